import { flagCriterion } from '../operands/flag-criterion.ts';

/** Whether a user is signed in. */
export const authenticatedUser = flagCriterion(
  {
    name: 'authenticated_user',
    reasons: { whenTrue: 'authenticated-user', whenFalse: 'user-unauthenticated' },
    ofUser: true,
    row: { looksAt: 'whether a user is signed in', compares: '' },
  },
  ({ identity }) => identity !== undefined,
);
