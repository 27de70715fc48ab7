import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'browser');
const IMPORT = /^import\s[^;]*?from '\.\/([\w-]+\.ts)';$/gm;
const DECLARED = /^(?:async )?(?:abstract )?(?:function|class|const|let) (\w+)/gm;

/** The scripts that a browser runs: on the page, in the page's frames, and in a wallet's window. */
export type Program = 'stripe' | 'frame' | 'wallet-window';

/**
 * Returns a program as one classic script. It is not a module script, since a page expects `window.Stripe` as soon as the script
 * has loaded. The modules import from each other only by name, without renaming, and no name is declared twice. So their texts,
 * joined in import order within one function, work as the modules do.
 */
export function bundle(program: Program): string {
  const texts: string[] = [];
  const declared = new Set<string>();
  const seen = new Set<string>();
  const add = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const source = stripTypeScriptTypes(readFileSync(join(FOLDER, name), 'utf8'));
    for (const [, imported] of source.matchAll(IMPORT)) add(imported!);
    const text = source.replace(IMPORT, '').replace(/^export /gm, '');
    for (const [, identifier] of text.matchAll(DECLARED)) {
      if (declared.has(identifier!))
        throw new Error(`${name}: ${identifier} is declared by another module of ${program}.ts`);
      declared.add(identifier!);
    }
    texts.push(`// ${name}\n${text.replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n')}`);
  };
  add(`${program}.ts`);
  return `(() => {\n'use strict';\n${texts.join('\n')}})();\n`;
}
