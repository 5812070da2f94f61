import { matcherCriterion } from '../operands/matcher-criterion.ts';

/** The groups of the user. */
export const groups = matcherCriterion(
  {
    name: 'groups',
    reasons: { whenTrue: 'groups-ok', whenFalse: 'groups-unauthorized' },
    ofUser: true,
    row: { looksAt: "the user's groups", compares: 'a list, exactly' },
  },
  {
    read: ({ identity }) => {
      if (identity === undefined) return null;
      return identity.groupsAreUnknown === true ? undefined : identity.groups;
    },
    rules: { allowsHas: true },
  },
);
