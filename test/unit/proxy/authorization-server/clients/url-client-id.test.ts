import { describe, expect, test } from '@jest/globals';

import {
  problemOfClientIdUrl,
  isUrlClientId,
} from '../../../../../proxy/authorization-server/clients/url-client-id.ts';
import { verifies } from '../../../../requirements/verifies.ts';

describe('isUrlClientId', () => {
  test.each([
    ['https://client.example/metadata.json', true],
    ['HTTPS://client.example/', true],
    ['http://localhost/metadata.json', true],
    ['https://', true],
    ['0f8fad5b-d9cb-469f-a165-70867728950e', false],
    ['https:client', false],
    ['', false],
  ])('returns for %s: %s', (clientId, expected) => {
    expect(isUrlClientId(clientId)).toBe(expected);
  });
});

describe('checkClientIdUrl', () => {
  const ACCEPTED = [
    'https://client.example/metadata.json',
    'https://client.example:8443/a',
    'https://client.example/a/',
    'https://client.example/a.json?v=2',
    'https://client.example/.well-known/client',
    'https://client.example/...',
    'https://client.example/a..b',
    'https://client.example/@me',
  ];

  for (const clientId of ACCEPTED) {
    verifies('as.metadata-document-url', `accepts ${clientId}`, () => {
      expect(problemOfClientIdUrl(clientId, { devAllowLoopback: false })).toBeNull();
    });
  }

  const REFUSED: readonly (readonly [string, string])[] = [
    ['https://client.example', 'has no path'],
    ['https://client.example/', 'has no path'],
    ['https://client.example?a=b', 'has no path'],
    ['https://client.example/?a=b', 'has no path'],
    ['https://client.example/a/../b', 'has a . or .. segment'],
    ['https://client.example/./b', 'has a . or .. segment'],
    ['https://client.example/a/..', 'has a . or .. segment'],
    ['https://client.example/a/%2e%2E/b', 'has a . or .. segment'],
    ['https://client.example/a/.%2e/b', 'has a . or .. segment'],
    ['https://client.example/a/%2e', 'has a . or .. segment'],
    ['https://client.example/a#b', 'has a fragment'],
    ['https://client.example/a#', 'has a fragment'],
    ['https://user@client.example/a', 'has a user name or password'],
    ['https://user:pass@client.example/a', 'has a user name or password'],
    ['https://@client.example/a', 'has a user name or password'],
    ['https://:@client.example/a', 'has a user name or password'],
    ['http://client.example/a', 'must start with https://'],
    ['http://localhost/a', 'must start with https://'],
    ['HTTPS://client.example/a', 'must start with https://'],
    ['https://', 'is not a URL'],
    ['https://client.example\\a', 'is not a URL'],
    ['https://client.example/a b', 'is not a URL'],
    ['https://client.example/a\n', 'is not a URL'],
    ['https://client.example/ä', 'is not a URL'],
    [`https://client.example/${'a'.repeat(2048)}`, 'is longer than 2048 characters'],
  ];

  for (const [clientId, problem] of REFUSED) {
    verifies(
      'as.metadata-document-url',
      `refuses ${JSON.stringify(clientId)}, which ${problem}`,
      () => {
        expect(problemOfClientIdUrl(clientId, { devAllowLoopback: false })).toBe(problem);
      },
    );
  }

  test('accepts http with the development flag', () => {
    expect(problemOfClientIdUrl('http://localhost:1/a', { devAllowLoopback: true })).toBeNull();
    expect(problemOfClientIdUrl('http://localhost:1/', { devAllowLoopback: true })).toBe(
      'has no path',
    );
  });
});
