import { stringify } from 'yaml';

import { runCommand } from './run-command.ts';

/** Runs kubectl as the administrator of the cluster, and returns what it printed. */
export async function kubectl(...args: readonly string[]): Promise<string> {
  return await runCommand('kubectl', args);
}

/** Creates or changes these objects. */
export async function applyObjects(...objects: readonly object[]): Promise<void> {
  const input = objects.map((object) => stringify(object)).join('---\n');
  await runCommand('kubectl', ['apply', '--server-side', '--force-conflicts', '-f', '-'], {
    input,
  });
}
