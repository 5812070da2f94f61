import { hash } from 'node:crypto';

import type { Span } from '../../../shared/telemetry/tracing/trace.ts';

const HEX_DIGITS = 32;

/** Names an MCP session on a span by a hash of its id, which is enough to find all of its requests. */
export function setSession(span: Span, id: string): void {
  span.set('mcp.session.id', hash('sha256', id).slice(0, HEX_DIGITS));
}
