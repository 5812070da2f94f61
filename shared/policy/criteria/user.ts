import { matcherCriterion } from '../operands/matcher-criterion.ts';

/** The identifier of the user. */
export const user = matcherCriterion(
  {
    name: 'user',
    reasons: { whenTrue: 'user-ok', whenFalse: 'user-unauthorized' },
    ofUser: true,
    row: {
      looksAt: "the user's identifier (`sub` of the identity provider)",
      compares: 'a text, exactly',
    },
  },
  { read: ({ identity }) => (identity === undefined ? null : identity.subject) },
);
