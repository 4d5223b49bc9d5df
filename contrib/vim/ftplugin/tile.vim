" SPDX-License-Identifier: Apache-2.0
" Options of Tile kernels; the language server where Neovim has a client of its own.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal comments=b:# commentstring=#\ %s
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal suffixesadd=.tile,.py
setlocal makeprg=tilec\ --color=never\ --emit=tile\ -o\ /dev/null\ %
setlocal errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%-G%.%#
let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< suffixesadd< makeprg< errorformat<'
if has('nvim-0.8') && executable('tilec')
  lua require('tile').start()
endif
