import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

import { KUBECTL } from '../chart/helm.ts';
import { isExecutable } from '../is-executable.ts';

/** Finds kubectl: installed, beside the API server of the tests, where the test cluster was built, or beside helm. */
export function findKubectl(): string | undefined {
  const { PATH = '', KUBEBUILDER_ASSETS = '' } = process.env;
  const directories = [...PATH.split(delimiter), KUBEBUILDER_ASSETS, ...builtClusters()];
  const files = directories
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, 'kubectl'));
  return [...files, KUBECTL].find(isExecutable);
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
