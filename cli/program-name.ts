import { basename } from 'node:path';

/** The name by which `kubectl` finds and calls its plugin. */
const PLUGIN = 'kubectl-gatehouse';

/** Returns what the user typed to call this program, by the path of its script. */
export function programName(script: string): string {
  return basename(script).startsWith(PLUGIN) ? 'kubectl gatehouse' : 'gatehouse';
}
