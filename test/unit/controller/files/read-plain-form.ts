import { readCandidates } from '../../../../controller/files/candidates.ts';
import { formatProblem } from '../../../../controller/files/located-problem.ts';
import type { Resource } from '../../../../controller/validate/validate-resource.ts';
import { contentsOf } from './contents-of.ts';

/** The file that plain forms are read from. */
export const FILE = '/etc/gatehouse/config.yaml';

/** Reads a plain form. */
export function readPlainForm(
  text: string,
  secretFiles: Readonly<Record<string, string>> = {},
): { readonly resources: readonly Resource[]; readonly problems: readonly string[] } {
  const { resources } = readCandidates(contentsOf({ [FILE]: text }, secretFiles), []);
  const inFile = resources.filter(({ file }) => file === FILE);
  return {
    resources: inFile.flatMap(({ resource }) => (resource === undefined ? [] : [resource])),
    problems: inFile.flatMap(({ problems }) => problems.map(formatProblem)),
  };
}
