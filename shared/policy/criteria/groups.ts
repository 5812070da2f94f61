import { matcherCriterion } from '../operands/matcher-criterion.ts';

/** The groups of the user. */
export const groups = matcherCriterion(
  {
    name: 'groups',
    reasons: { whenTrue: 'groups-ok', whenFalse: 'groups-unauthorized' },
    row: { looksAt: "the user's groups", compares: 'a list, exactly' },
  },
  {
    read: ({ identity }) => (identity === undefined ? null : identity.groups),
    rules: { allowsHas: true },
  },
);
