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

/** What a sealed id contains. */
export interface SealedSession {
  /** The server's id. */
  readonly id: string;
  /** Whether the client that began the session opens URLs for its user (MCP, Elicitation, URL mode). */
  readonly takesUrls: boolean;
}

interface Opened extends SealedSession {
  readonly context: string;
}

/** After the id in the sealed text. No id has a space. */
const TAKES_URLS = ' url';

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
  seal({ id, takesUrls }: SealedSession, owner: McpSessionOwner): string | null {
    if (id.length > MAX_SESSION_ID_LENGTH || !SESSION_ID.test(id)) return null;
    const context = contextOf(owner);
    const sealed = this.#sealer.seal(takesUrls ? id + TAKES_URLS : id, context);
    this.#opened.set(sealed, { context, id, takesUrls });
    return sealed;
  }

  /** Returns whether an id looks like one of a sealing key that this process does not have. */
  isOfUnknownKey(sealed: string): boolean {
    return sealed.length <= MAX_SEALED_LENGTH && this.#sealer.isOfUnknownKey(sealed);
  }

  /** Returns what is sealed; null if the session does not belong to this owner, or was never sealed. */
  open(sealed: string, owner: McpSessionOwner): SealedSession | null {
    const context = contextOf(owner);
    const known = this.#opened.get(sealed);
    if (known?.context === context) return known;
    if (sealed.length > MAX_SEALED_LENGTH) return null;
    const text = this.#sealer.open(sealed, context);
    if (text === null) return null;
    const takesUrls = text.endsWith(TAKES_URLS);
    const id = takesUrls ? text.slice(0, -TAKES_URLS.length) : text;
    const opened = { context, id, takesUrls };
    this.#opened.set(sealed, opened);
    return opened;
  }
}

/** Neither a gateway's id nor a resource identifier has a space, so two owners never share a context. */
function contextOf({ gatewayId, resource, identity }: McpSessionOwner): string {
  const owner = `mcp-session ${gatewayId} ${resource}`;
  return identity === undefined ? owner : `${owner} ${userKey(identity)}`;
}
