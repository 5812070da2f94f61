/**
 * Loaded into a process before its program. Writes the names of the npm packages that the process has
 * loaded to a file when it ends.
 */
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Path of the file. */
export const LOADED_PACKAGES = 'LOADED_PACKAGES';

function recordPackages(path: string): void {
  const packages = new Set<string>();
  registerHooks({
    load: (url, context, nextLoad) => {
      const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
      if (name !== undefined) packages.add(name);
      return nextLoad(url, context);
    },
  });
  process.on('exit', () => writeFileSync(path, JSON.stringify([...packages].sort())));
}

const path = process.env[LOADED_PACKAGES];
if (path !== undefined) recordPackages(path);
