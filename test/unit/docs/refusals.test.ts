import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const CODE = read('proxy/**/*.ts');

/** Errors with the reason as their first argument, and the subclasses that pass it on. */
const WITH_REASON =
  /(?:new (?:Forbidden|BadRequest|AuthorizationPage|SignInFailed|Unavailable|SeveralCredentials|Connection(?:Page|Failed))Error|super|refusal)\(\s*'([a-z]+(?:-[a-z]+)*)'/g;
const MEMBER_OF_UNION = /^ {2}\| '([a-z-]+)'/gm;
const FIXED_REASON = /override readonly reason = '([\w-]+)'/g;
const OAUTH_CODE = /override readonly code = '(\w+)'/g;

/** Reasons that are in no such line: the audit log or the authorization log has them. */
const LOGGED_ELSEWHERE = [
  'access-denied',
  'mcp-tool-unauthorized',
  'user-unauthenticated',
  'client-gone',
];

test('the documents explain every reason for which a request is refused or fails', () => {
  const oauth = wordsIn(CODE, OAUTH_CODE).map((code) => code.replaceAll('_', '-'));
  const ofTokens = membersIn('proxy/token-verification/token-refused-error.ts');
  const ofUpstreams = membersIn('proxy/errors/upstream-auth-error.ts').filter((reason) =>
    reason.startsWith('upstream-auth-'),
  );
  const ofConnections = membersIn('proxy/upstream-oauth/protocol/token-request-error.ts');
  const fixed = wordsIn(CODE, FIXED_REASON);
  const ofUnions = [...ofTokens, ...ofUpstreams, ...ofConnections];
  const written = [...wordsIn(CODE, WITH_REASON), ...fixed, ...oauth, ...ofUnions];
  const expected = written.filter((reason) => !LOGGED_ELSEWHERE.includes(reason));

  expect(written.length).toBeGreaterThan(60);
  expect(ofTokens.length).toBeGreaterThan(10);
  expect(ofUpstreams.length).toBeGreaterThan(8);
  expect(ofConnections.length).toBeGreaterThan(3);
  expect(listed()).toEqual(expect.arrayContaining(expected));
});

test('docs/refusals.md explains no reason that the code does not have', () => {
  const known = new Set([...CODE.matchAll(/'([a-z]+(?:[-_][a-z]+)*)'/g)].map(([, word]) => word));
  const unknown = reasonColumn(read('docs/refusals.md')).filter(
    (reason) => !known.has(reason) && !known.has(reason.replaceAll('-', '_')),
  );

  expect(unknown).toEqual([]);
});

function membersIn(file: string): readonly string[] {
  return wordsIn(read(file), MEMBER_OF_UNION);
}

function listed(): readonly string[] {
  const [, ofSignIns = ''] = /^## When it fails$(.*)/ms.exec(read('docs/sign-in.md')) ?? [];
  return [...reasonColumn(read('docs/refusals.md')), ...reasonColumn(ofSignIns)];
}

/** The words in the first column of all tables. */
function reasonColumn(text: string): readonly string[] {
  return [...text.matchAll(/^\| (`[a-z][^|]*)\|/gm)].flatMap(([, cell = '']) =>
    wordsIn(cell, /`([a-z-]+)`/g).filter((word) => word !== 'reason' && word !== 'message'),
  );
}

function wordsIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, word = '']) => word);
}

function read(pattern: string): string {
  const files = globSync(pattern, { cwd: ROOT });
  return files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
}
