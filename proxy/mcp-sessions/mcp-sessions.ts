import { BoundedMap } from '../cache/bounded-map.ts';
import type { Sealer } from '../crypto/sealer.ts';
import { userKey } from '../records/user-key.ts';
import type { Identity } from '../records/session.ts';

/** Ids of MCP servers are UUIDs, hashes or JWTs. */
const MAX_SESSION_ID_LENGTH = 2048;

/** Above the length of the longest sealed id; a longer one is refused without decoding it. */
const MAX_SEALED_LENGTH = 4096;

/** MCP 2025-11-25, Session Management, rule 1: visible ASCII only. */
const SESSION_ID = /^[\x21-\x7e]+$/;

const MAX_OPENED = 10_000;

/** To whom an MCP session belongs. */
export interface McpSessionOwner {
  readonly gatewayId: string;
  /** Resource identifier of the route. */
  readonly resource: string;
  /** Absent for anonymous callers. */
  readonly identity: Pick<Identity, 'provider' | 'issuer' | 'subject'> | undefined;
}

interface Opened {
  readonly context: string;
  readonly id: string;
}

/**
 * Seals the ids of MCP sessions together with their owners, so that every proxy can check without a store
 * to whom a session belongs.
 *
 * Attack: an MCP server that identifies a user by `Mcp-Session-Id` alone would serve everyone who learns
 * the id (MCP, Security Best Practices, Session Hijacking).
 */
export class McpSessions {
  readonly #sealer: Sealer;
  /** By the sealed id, so that a session in use costs no cryptography. */
  readonly #opened = new BoundedMap<string, Opened>(MAX_OPENED);

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** Returns the id that the client gets; null if the server's id is malformed or too long. */
  seal(id: string, owner: McpSessionOwner): string | null {
    if (id.length > MAX_SESSION_ID_LENGTH || !SESSION_ID.test(id)) return null;
    const context = contextOf(owner);
    const sealed = this.#sealer.seal(id, context);
    this.#opened.set(sealed, { context, id });
    return sealed;
  }

  /** Returns whether an id looks like one of a sealing key that this process does not have. */
  isOfUnknownKey(sealed: string): boolean {
    return sealed.length <= MAX_SEALED_LENGTH && this.#sealer.isOfUnknownKey(sealed);
  }

  /** Returns the server's id; null if the session does not belong to this owner, or was never sealed. */
  open(sealed: string, owner: McpSessionOwner): string | null {
    const context = contextOf(owner);
    const known = this.#opened.get(sealed);
    if (known?.context === context) return known.id;
    if (sealed.length > MAX_SEALED_LENGTH) return null;
    const id = this.#sealer.open(sealed, context);
    if (id !== null) this.#opened.set(sealed, { context, id });
    return id;
  }
}

/** Neither a gateway's id nor a resource identifier has a space, so two owners never share a context. */
function contextOf({ gatewayId, resource, identity }: McpSessionOwner): string {
  const owner = `mcp-session ${gatewayId} ${resource}`;
  return identity === undefined ? owner : `${owner} ${userKey(identity)}`;
}
