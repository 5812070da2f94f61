import { memberPath } from '../../controller/validate/field-path.ts';
import { requestProblems, userProblems } from '../explain/check-description.ts';
import type { CaseFile } from './case-file.ts';

/** One thing wrong with a file of cases. */
export interface CaseProblem {
  readonly path: string;
  readonly message: string;
}

/** Returns everything wrong with a file of cases that its schema does not say. */
export function caseProblems(file: CaseFile): readonly CaseProblem[] {
  const { route, users = {}, cases } = file;
  return [
    ...(route === undefined ? [] : requestProblems({ route })).map(({ message }) => {
      return { path: 'route', message };
    }),
    ...Object.entries(users).flatMap(([name, user]) =>
      userProblems(user).map((problem) => at(memberPath('users', name), problem)),
    ),
    ...cases.flatMap((each, index) => {
      const path = memberPath('cases', index);
      const { user, request = {} } = each;
      const isUnknown = user !== undefined && !Object.hasOwn(users, user);
      return [
        ...(isUnknown ? [{ path: `${path}.user`, message: 'is not one of users' }] : []),
        ...requestProblems(request).map((problem) => at(`${path}.request`, problem)),
      ];
    }),
  ];
}

function at(
  path: string,
  { member, message }: { readonly member: string; readonly message: string },
): CaseProblem {
  return { path: memberPath(path, member), message };
}
