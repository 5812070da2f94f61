import type { Report } from '../language/criterion-definition.ts';
import { matcherAtPathCriterion } from '../operands/matcher-criterion.ts';
import { claimValues } from './claim-values.ts';

/** A claim of the user. */
export const claim = matcherAtPathCriterion(
  {
    name: 'claim',
    readPath,
    writePath: (path) => `/${path.join('/')}`,
    example: 'claim/department',
    reasons: { whenTrue: 'claim-ok', whenFalse: 'claim-unauthorized' },
    ofUser: true,
    row: { looksAt: 'a claim of the user', compares: 'a text or a list, exactly' },
  },
  {
    readerAt:
      (path) =>
      ({ identity }) =>
        identity === undefined ? null : claimValues(identity.claims, path),
    rules: { allowsHas: true },
  },
);

function readPath(path: string, report: Report): readonly string[] | null {
  const names = path.slice(1).split('/');
  return names.includes('') ? report('must name a claim, such as claim/department') : names;
}
