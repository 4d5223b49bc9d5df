// SPDX-License-Identifier: Apache-2.0
// Starts `tilec lsp` and connects it to the editor.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = workspace.getConfiguration("tile");
  const languages = settings.get("python") ? ["tile", "python"] : ["tile"];
  const server = { command: settings.get("path"), args: ["lsp"] };
  client = new LanguageClient("tile", "Tile", server, {
    documentSelector: languages.map((language) => ({ scheme: "file", language })),
    initializationOptions: { target: settings.get("target"), folders: settings.get("folders") },
  });
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
