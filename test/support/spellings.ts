import { globSync, readFileSync } from 'node:fs';

const PRODUCT = '{cli,controller,crds,proxy,shared}/**/*.ts';

/** Lists the files of the product whose text matches, without comments. */
export function filesThatSpell(pattern: RegExp): readonly string[] {
  return globSync(PRODUCT)
    .filter((file) => pattern.test(withoutComments(readFileSync(file, 'utf8'))))
    .sort();
}

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
