import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import type { SealingKey } from '../../../../proxy/crypto/sealing-key.ts';
import { ExternalTokens } from '../../../../proxy/authentication/external-tokens.ts';
import { verifies } from '../../../requirements/verifies.ts';

const KEY: SealingKey = { secret: Buffer.alloc(32, 1) };
const OTHER_KEY: SealingKey = { secret: Buffer.alloc(32, 2) };

const CLAIMS = {
  gatewayId: 'gatehouse/main',
  issuer: 'https://mcp.example.com',
  sessionId: 'session',
  grantId: 'grant',
  clientId: 'client',
  audience: 'https://mcp.example.com/mcp',
  issuedAt: 1_800_000_000_000,
  expiresAt: 1_800_000_900_000,
};

describe('An external token', () => {
  test('opens to the claims it was issued with, and a token id of its own', () => {
    const tokens = new ExternalTokens(new Sealer([KEY]));
    const first = tokens.open(tokens.issue(CLAIMS));
    const second = tokens.open(tokens.issue(CLAIMS));
    expect(first).toEqual({ ...CLAIMS, tokenId: expect.stringMatching(/^[\w-]{22}$/) });
    expect(second?.tokenId).not.toBe(first?.tokenId);
  });

  verifies('as.token-integrity', 'reveals nothing to its holder', () => {
    const token = new ExternalTokens(new Sealer([KEY])).issue(CLAIMS);
    expect(token).toMatch(/^gte_[\w-]+$/);
    const bytes = Buffer.from(token.slice(4), 'base64url').toString('latin1');
    for (const claim of Object.values(CLAIMS)) expect(bytes).not.toContain(String(claim));
  });

  test('opens as long as its key is one of the sealing keys', () => {
    const token = new ExternalTokens(new Sealer([KEY])).issue(CLAIMS);
    expect(new ExternalTokens(new Sealer([OTHER_KEY, KEY])).open(token)).toMatchObject(CLAIMS);
    expect(new ExternalTokens(new Sealer([OTHER_KEY])).open(token)).toBeNull();
  });

  verifies('as.token-integrity', 'opens in exactly one spelling', () => {
    const tokens = new ExternalTokens(new Sealer([KEY]));
    const token = tokens.issue(CLAIMS);
    for (const spelling of [
      `${token}=`,
      `${token} `,
      token.replace('gte_', 'GTE_'),
      token.slice(4),
    ]) {
      expect(tokens.open(spelling)).toBeNull();
    }
  });

  verifies('as.token-integrity', 'does not open if a single character is changed', () => {
    const tokens = new ExternalTokens(new Sealer([KEY]));
    const token = tokens.issue(CLAIMS);
    fc.assert(
      fc.property(fc.nat(token.length - 1), (at) => {
        const changed = token[at] === 'x' ? 'y' : 'x';
        expect(tokens.open(token.slice(0, at) + changed + token.slice(at + 1))).toBeNull();
      }),
    );
  });

  verifies(
    'as.token-integrity',
    'cannot be a text sealed for another purpose or by another version',
    () => {
      const sealer = new Sealer([KEY]);
      const tokens = new ExternalTokens(sealer);
      const text = JSON.stringify(['g', 'i', 's', 'g', 'c', 'a', 't', 1, 2]);
      expect(tokens.open(`gte_${sealer.seal(text, 'external-token')}`)).not.toBeNull();
      expect(tokens.open(`gte_${sealer.seal(text, 'sign-in-request')}`)).toBeNull();
      for (const other of ['{}', '[]', '["g"]', text.replace('1', '"1"')]) {
        expect(tokens.open(`gte_${sealer.seal(other, 'external-token')}`)).toBeNull();
      }
    },
  );

  verifies('as.token-integrity', 'cannot be made up by a stranger', () => {
    const tokens = new ExternalTokens(new Sealer([KEY]));
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(tokens.open(`gte_${text}`)).toBeNull();
        expect(tokens.open(text)).toBeNull();
      }),
    );
    expect(tokens.open(`gte_${'x'.repeat(1_000_000)}`)).toBeNull();
  });
});
