import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { searchMetrics, searchSpans } from '../../../support/redis/suite/search.ts';
import { SuiteRecord, type RecordedSpan } from '../../../support/redis/suite/suite-record.ts';
import { TemporaryDirectory } from '../../../support/temporary-directory.ts';

const SECRETS = [
  { kind: 'cookie', value: 'a-cookie-of-somebody' },
  { kind: 'name of a user', value: 'Alice Example', isLoggable: true },
  { kind: 'client address', value: '127.0.0.7', isLoggable: true },
  { kind: 'query q', value: 'what was searched', isQuery: true },
] as const;

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

describe('searchSpans', () => {
  test.each([
    ['a secret in a name', { name: 'GET /a-cookie-of-somebody' }],
    ['a secret in a value', { attributes: { 'url.path': '/a-cookie-of-somebody' } }],
    [
      'a secret in the URL of a server',
      { attributes: { 'url.full': 'http://a/?what+was+searched' } },
    ],
    ['a secret in an error', { error: 'cannot open a-cookie-of-somebody' }],
    ['what only logs may have', { attributes: { 'gatehouse.route.name': 'Alice Example' } }],
    ['the value of a query', { attributes: { 'url.path': 'what was searched' } }],
    ['an e-mail address', { attributes: { 'exception.message': 'no alice@example.com' } }],
    ['the address of a client', { attributes: { 'client.address': '127.0.0.7' } }],
  ])('finds %s', async (_, span) => {
    expect((await search(span)).length).toBeGreaterThan(0);
  });

  test('does not mind the addresses of servers', async () => {
    const attributes = {
      'server.address': '127.0.0.7',
      'url.full': 'http://127.0.0.1:1/mcp',
      'exception.message': 'connect ECONNREFUSED 127.0.0.1:1',
    };
    expect(await search({ attributes })).toEqual([]);
  });
});

test('searchMetrics finds a user in a label', async () => {
  const record = new SuiteRecord(directory.path);
  record.addMetrics('# HELP a\na_total{user="Alice Example"} 1\nb_total 1\n');
  const { findings, looked } = await searchMetrics(record, SECRETS);
  expect(looked).toBe(3);
  expect(findings).toMatchObject([{ place: 'a_total', kind: 'name of a user' }]);
});

async function search(span: Partial<RecordedSpan>): Promise<readonly unknown[]> {
  const record = new SuiteRecord(directory.path);
  record.addSpan({ name: 'GET /', attributes: {}, error: undefined, ...span });
  return (await searchSpans(record, SECRETS)).findings;
}
