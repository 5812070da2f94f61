import { relative } from 'node:path';

import { build, type BuildResult } from 'esbuild';

import { namedExports } from './named-exports.ts';

/** The program of the image, as files of its folder. */
export interface Program {
  readonly files: readonly { readonly path: string; readonly contents: Uint8Array }[];
  /** The file that runs it. */
  readonly entry: string;
  /** Files whose compiled code is kept in the image. */
  readonly cached: readonly string[];
  /** Folders of the npm packages that the files hold parts of. */
  readonly packages: readonly string[];
}

/** Packages written in CommonJS load Node's own modules by this. */
const REQUIRE = `import { createRequire as createRequireOfNode } from 'node:module';
const require = createRequireOfNode(import.meta.url);`;

/** Files that run a command as soon as they are loaded. */
const RUNNING = ['image/program/gatehouse.js', 'cli/main.ts'];
/** What a demo compiles differs between builds, and its start is not worth it. */
const NOT_CACHED = [...RUNNING, 'cli/demo/demo.ts'];

/**
 * Bundles the command with all that it loads, so that Node reads 50 files at a start and not 500. The code
 * stays readable, and source maps name the original lines in stack traces.
 */
export async function bundleProgram(checkout: string): Promise<Program> {
  const result = await build({
    absWorkingDir: checkout,
    // Paths in source maps are relative to this folder, which becomes /app.
    outdir: checkout,
    entryPoints: [{ in: 'image/program/gatehouse.js', out: 'cli/gatehouse' }],
    chunkNames: 'cli/[name]-[hash]',
    write: false,
    metafile: true,
    plugins: [namedExports(checkout)],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    banner: { js: REQUIRE },
    sourcemap: 'linked',
    sourcesContent: false,
    // A checkout whose node_modules is a link gives the same names.
    preserveSymlinks: true,
    logLevel: 'warning',
  });
  const files = result.outputFiles.map(({ path, contents }) => ({
    path: relative(checkout, path),
    contents,
  }));
  return {
    files,
    entry: 'cli/gatehouse.js',
    cached: cachedFiles(result),
    packages: bundledPackages(result),
  };
}

function cachedFiles({ metafile }: BuildResult<{ metafile: true }>): readonly string[] {
  return Object.entries(metafile.outputs)
    .filter(
      ([path, { entryPoint = '' }]) => path.endsWith('.js') && !NOT_CACHED.includes(entryPoint),
    )
    .map(([path]) => path)
    .sort();
}

function bundledPackages({ metafile }: BuildResult<{ metafile: true }>): readonly string[] {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const packages = inputs.flatMap(([path, { bytesInOutput }]) => {
    const [folder] = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path) ?? [];
    return bytesInOutput === 0 || folder === undefined ? [] : [folder];
  });
  return [...new Set(packages)].sort();
}
