import { describe, expect } from '@jest/globals';
import fc from 'fast-check';

import { AccessDeniedError } from '../../../../proxy/errors/oauth-errors.ts';
import {
  codeRedirect,
  errorRedirect,
} from '../../../../proxy/authorization-server/authorization-response.ts';
import { anOrigin } from '../../../support/an-origin.ts';
import { verifies } from '../../../requirements/verifies.ts';

const issuer = anOrigin('https://mcp.example.com');

describe('codeRedirect', () => {
  const REDIRECT_URIS: readonly (readonly [string, string])[] = [
    ['https://c.example/cb', 'https://c.example/cb?code=x&iss='],
    ['https://c.example/cb?', 'https://c.example/cb?code=x&iss='],
    ['https://c.example/cb?a=b%20c', 'https://c.example/cb?a=b%20c&code=x&iss='],
    ['https://c.example/cb?a=b&', 'https://c.example/cb?a=b&code=x&iss='],
    ['cursor://mcp/cb', 'cursor://mcp/cb?code=x&iss='],
  ];

  for (const [redirectUri, start] of REDIRECT_URIS) {
    verifies(
      ['as.authorization-response', 'as.iss'],
      `adds the code and the issuer to ${redirectUri}`,
      () => {
        const redirect = codeRedirect({ issuer, redirectUri }, 'x');
        expect(redirect).toBe(start + encodeURIComponent(issuer));
      },
    );
  }

  verifies(
    ['as.authorization-response', 'as.iss'],
    'returns any state unchanged, and no state can add a parameter',
    () => {
      fc.assert(
        fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (state) => {
          const target = { issuer, redirectUri: 'https://c.example/cb', state };
          const { searchParams } = new URL(codeRedirect(target, 'x'));
          expect([...searchParams]).toEqual([
            ['code', 'x'],
            ['state', state],
            ['iss', issuer],
          ]);
        }),
      );
    },
  );
});

verifies(
  ['as.authorization-errors', 'as.iss'],
  'An error redirect has code, description, state and issuer',
  () => {
    const target = { issuer, redirectUri: 'https://c.example/cb', state: 's' };
    const { searchParams } = new URL(errorRedirect(target, new AccessDeniedError('no')));
    expect(Object.fromEntries(searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'no',
      state: 's',
      iss: issuer,
    });
  },
);
