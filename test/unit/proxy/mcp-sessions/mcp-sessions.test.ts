import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import type { SealingKey } from '../../../../proxy/crypto/sealing-key.ts';
import { McpSessions, type McpSessionOwner } from '../../../../proxy/mcp-sessions/mcp-sessions.ts';

const OLD: SealingKey = { secret: Buffer.alloc(32, 1) };
const NEW: SealingKey = { secret: Buffer.alloc(32, 2) };

const SESSION = { id: 'of-the-server', takesUrls: false };

const ISSUER = 'https://idp.example.com';

const OWNER: McpSessionOwner = {
  gatewayId: 'default/gatehouse',
  resource: 'https://mcp.example.com/files',
  identity: { provider: 'okta', issuer: ISSUER, subject: 'alice' },
};

/** Counts what it opens. */
class CountingSealer extends Sealer {
  opened = 0;

  override open(sealed: string, context: string): string | null {
    this.opened += 1;
    return super.open(sealed, context);
  }
}

function sealedBy(sealer: Sealer): string {
  return new McpSessions(sealer).seal(SESSION, OWNER) ?? '';
}

describe('the sealed id of an MCP session', () => {
  test.each<[string, Partial<McpSessionOwner>]>([
    ['gateway', { gatewayId: 'default/other' }],
    ['route', { resource: 'https://mcp.example.com/other' }],
    ['subject', { identity: { provider: 'okta', issuer: ISSUER, subject: 'bob' } }],
    ['identity provider', { identity: { provider: 'other', issuer: ISSUER, subject: 'alice' } }],
    ['issuer', { identity: { provider: 'okta', issuer: `${ISSUER}/`, subject: 'alice' } }],
    ['user without an issuer', { identity: { provider: 'okta', subject: 'alice' } }],
    ['absent user', { identity: undefined }],
  ])('does not open for another %s, also while it is remembered for its owner', (_, change) => {
    const sessions = new McpSessions(new Sealer([OLD]));
    const sealed = sessions.seal(SESSION, OWNER) ?? '';
    expect(sessions.open(sealed, { ...OWNER, ...change })).toBeNull();
    expect(sessions.open(sealed, OWNER)).toMatchObject(SESSION);
    expect(sessions.open(sealed, { ...OWNER, ...change })).toBeNull();
  });

  test('opens at every proxy for as long as its key is accepted', () => {
    const sealed = sealedBy(new Sealer([OLD]));
    expect(new McpSessions(new Sealer([OLD, NEW])).open(sealed, OWNER)).toMatchObject(SESSION);
    expect(new McpSessions(new Sealer([NEW, OLD])).open(sealed, OWNER)).toMatchObject(SESSION);
    expect(new McpSessions(new Sealer([NEW])).open(sealed, OWNER)).toBeNull();
  });

  test('costs no cryptography after its first use', () => {
    const sealed = sealedBy(new Sealer([OLD]));
    const sealer = new CountingSealer([OLD]);
    const sessions = new McpSessions(sealer);
    for (let call = 0; call < 5; call += 1) sessions.open(sealed, OWNER);
    expect(sealer.opened).toBe(1);
  });

  test('of more than 4096 characters is refused without cryptography', () => {
    const sealer = new CountingSealer([OLD]);
    expect(new McpSessions(sealer).open('A'.repeat(4097), OWNER)).toBeNull();
    expect(sealer.opened).toBe(0);
  });

  test('opens if the id of the server is as long as accepted', () => {
    const id = '~'.repeat(2048);
    const session = { id, takesUrls: true };
    const sealed = new McpSessions(new Sealer([OLD])).seal(session, OWNER) ?? '';
    expect(new McpSessions(new Sealer([OLD])).open(sealed, OWNER)).toMatchObject(session);
  });

  test.each([true, false])('says whether its client opens URLs: %s', (takesUrls) => {
    const session = { id: 'of-the-server', takesUrls };
    const sealed = new McpSessions(new Sealer([OLD])).seal(session, OWNER) ?? '';
    expect(new McpSessions(new Sealer([OLD])).open(sealed, OWNER)).toMatchObject(session);
  });
});
