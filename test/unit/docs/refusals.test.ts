import { expect, test } from '@jest/globals';

import {
  isKnownReason,
  readFiles,
  reasonColumn,
  refusalReasons,
} from '../../support/docs/refusal-reasons.ts';

/** Reasons that are in no such line: the audit log or the authorization log has them. */
const LOGGED_ELSEWHERE = [
  'access-denied',
  'mcp-tool-unauthorized',
  'user-unauthenticated',
  'client-gone',
];

test('the documents explain every reason for which a request is refused or fails', () => {
  const { written, oauth, ofTokens, ofUpstreams, ofConnections } = refusalReasons();
  const all = [...written, ...oauth, ...ofTokens, ...ofUpstreams, ...ofConnections];
  const expected = all.filter((reason) => !LOGGED_ELSEWHERE.includes(reason));

  expect(all.length).toBeGreaterThan(60);
  expect(ofTokens.length).toBeGreaterThan(10);
  expect(ofUpstreams.length).toBeGreaterThan(8);
  expect(ofConnections.length).toBeGreaterThan(3);
  expect(listed()).toEqual(expect.arrayContaining(expected));
});

test('docs/refusals.md explains no reason that the code does not have', () => {
  const reasons = reasonColumn(readFiles('docs/refusals.md'));

  expect(reasons.filter((reason) => !isKnownReason(reason))).toEqual([]);
});

test('docs/troubleshooting.md says of every code where to look, and of no other', () => {
  const { written, oauth, ofTokens, ofUpstreams, ofConnections } = refusalReasons();
  const all = [...written, ...oauth, ...ofTokens, ...ofUpstreams, ...ofConnections, ...listed()];
  const codes = new Set([...all, ...WITHOUT_ERROR]);
  const found = reasonColumn(readFiles('docs/troubleshooting.md'));

  expect(found.toSorted()).toEqual([...codes].toSorted());
});

/** Codes of answers that no class of errors has as its own: they stand for several reasons, or for none. */
const WITHOUT_ERROR = ['internal-error', 'invalid-token', 'no-token'];

function listed(): readonly string[] {
  const [, ofSignIns = ''] = /^## When it fails$(.*)/ms.exec(readFiles('docs/sign-in.md')) ?? [];
  return [...reasonColumn(readFiles('docs/refusals.md')), ...reasonColumn(ofSignIns)];
}
