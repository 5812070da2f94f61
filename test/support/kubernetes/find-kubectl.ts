import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

import { isExecutable } from '../is-executable.ts';

/** Finds kubectl: installed, beside the API server of the tests, or where the test cluster was built. */
export function findKubectl(): string | undefined {
  const { PATH = '', KUBEBUILDER_ASSETS = '' } = process.env;
  const directories = [...PATH.split(delimiter), KUBEBUILDER_ASSETS, ...builtClusters()];
  return directories
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, 'kubectl'))
    .find(isExecutable);
}

function builtClusters(): readonly string[] {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const builds = join(cache, 'gatehouse-cluster');
  try {
    return readdirSync(builds).map((version) => join(builds, version, 'bin'));
  } catch {
    return [];
  }
}
