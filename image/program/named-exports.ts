import { readFile } from 'node:fs/promises';
import { findPackageJSON, isBuiltin } from 'node:module';

import type { Plugin } from 'esbuild';

const NAMESPACE = 'named-exports';
/** A package, or one of Node's own modules; not a file. */
const BARE_NAME = /^[^./]/;
/** Node names all of a CommonJS module `module.exports`, which is no name in code. */
const IDENTIFIER = /^[\w$]+$/;

/**
 * Gives `await import('package')` of a package in CommonJS the names that it has in Node. In a bundle it would have
 * `default` alone, and what is read from it by name would be undefined.
 */
export function namedExports(checkout: string): Plugin {
  return {
    name: NAMESPACE,
    setup(build) {
      build.onResolve({ filter: BARE_NAME }, async ({ path, kind }) => {
        if (kind !== 'dynamic-import' || !(await isCommonJs(path))) return undefined;
        return { path, namespace: NAMESPACE };
      });
      build.onLoad({ filter: BARE_NAME, namespace: NAMESPACE }, async ({ path }) => ({
        contents: `export { ${await namesOf(path)} } from ${JSON.stringify(path)};`,
        resolveDir: checkout,
      }));
    },
  };
}

async function isCommonJs(path: string): Promise<boolean> {
  const manifest = isBuiltin(path) ? undefined : findPackageJSON(path, import.meta.url);
  if (manifest === undefined) return false;
  const { type } = JSON.parse(await readFile(manifest, 'utf8')) as { readonly type?: string };
  return type !== 'module';
}

async function namesOf(path: string): Promise<string> {
  // A module is an object of its exports.
  const exported = (await import(path)) as object;
  return Object.keys(exported)
    .filter((name) => IDENTIFIER.test(name))
    .join(', ');
}
