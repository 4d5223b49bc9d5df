-- SPDX-License-Identifier: Apache-2.0
-- Starts `tilec lsp` for the current buffer. For Python files, call it from an autocommand:
--   vim.api.nvim_create_autocmd("FileType", { pattern = "python", callback = function() require("tile").start() end })
local M = {}

function M.start(options)
  vim.lsp.start({
    name = "tilec",
    cmd = { "tilec", "lsp" },
    root_dir = vim.fs.dirname(vim.api.nvim_buf_get_name(0)),
    init_options = options,
  })
end

return M
