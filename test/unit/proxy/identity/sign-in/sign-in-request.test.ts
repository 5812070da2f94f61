import { randomBytes } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../../proxy/crypto/sealer.ts';
import { hashToken } from '../../../../../proxy/crypto/tokens.ts';
import {
  openSignInRequest,
  sealSignInRequest,
} from '../../../../../proxy/identity/sign-in/sign-in-request.ts';
import { anOrigin } from '../../../../support/an-origin.ts';

const sealer = new Sealer([{ secret: randomBytes(32) }]);
const audience = anOrigin('https://auth.example');
const request = {
  targetOrigin: anOrigin('https://app.example'),
  returnPath: '/a?b=c',
  targetHash: hashToken('value'),
  expiresAt: 1234,
  provider: 'partner',
};

describe('a sealed sign-in request', () => {
  test('opens to what was sealed', () => {
    const sealed = sealSignInRequest(request, audience, sealer);
    expect(openSignInRequest(sealed, audience, sealer)).toEqual(request);
  });

  test('opens to no name of a provider where none was sealed, as by earlier releases', () => {
    const { targetOrigin, returnPath, targetHash, expiresAt } = request;
    const expected = { ...request, provider: undefined };
    const earlier = JSON.stringify([targetOrigin, returnPath, targetHash, expiresAt]);
    const sealed = [
      sealSignInRequest(expected, audience, sealer),
      sealer.seal(earlier, `sign-in-request ${audience}`),
    ];
    for (const each of sealed) expect(openSignInRequest(each, audience, sealer)).toEqual(expected);
  });

  test.each([true, false])('carries its trace, sampled: %j, without revealing it', (isSampled) => {
    const trace = { traceId: '0123456789abcdef'.repeat(2), spanId: 'fedcba9876543210', isSampled };
    const sealed = sealSignInRequest({ ...request, trace }, audience, sealer);
    expect(openSignInRequest(sealed, audience, sealer)).toEqual({ ...request, trace });
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain(trace.traceId);
  });

  test('opens without a trace where what was sealed is not one', () => {
    const { targetOrigin, returnPath, targetHash, expiresAt, provider } = request;
    for (const trace of ['', 'a trace', 7, null]) {
      const text = JSON.stringify([
        targetOrigin,
        returnPath,
        targetHash,
        expiresAt,
        provider,
        trace,
      ]);
      const sealed = sealer.seal(text, `sign-in-request ${audience}`);
      expect(openSignInRequest(sealed, audience, sealer)).toEqual(request);
    }
  });

  test('reveals nothing of its content, and needs no encoding in a URL', () => {
    const sealed = sealSignInRequest(request, audience, sealer);
    expect(sealed).toMatch(/^[\w-]+$/);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('app.example');
  });

  test('does not open at another host', () => {
    const sealed = sealSignInRequest(request, audience, sealer);
    expect(openSignInRequest(sealed, anOrigin('https://app.example'), sealer)).toBeNull();
  });

  test('does not open with another key', () => {
    const other = new Sealer([{ secret: randomBytes(32) }]);
    const sealed = sealSignInRequest(request, audience, other);
    expect(openSignInRequest(sealed, audience, sealer)).toBeNull();
  });

  test.each(['', 'x', 'null', 'A'.repeat(200)])('cannot be %j', (sealed) => {
    expect(openSignInRequest(sealed, audience, sealer)).toBeNull();
  });

  test('opens to a safe return path even if an unsafe one was sealed', () => {
    const unsafe = { ...request, returnPath: '//attacker.example' };
    const sealed = sealSignInRequest(unsafe, audience, sealer);
    expect(openSignInRequest(sealed, audience, sealer)?.returnPath).toBe('/');
  });

  test.each(['{}', '[]', '["a","/b","c"]', '[1,"/b","c",2]', '"text"'])(
    'is refused when another release sealed %s',
    (text) => {
      const sealed = sealer.seal(text, `sign-in-request ${audience}`);
      expect(openSignInRequest(sealed, audience, sealer)).toBeNull();
    },
  );
});
