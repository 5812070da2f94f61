import { isStateless } from './mirrored-headers.ts';

/** A denied call of a tool, as its caller may know it. */
export interface ToolDenialText {
  /** For the model. */
  readonly text: string;
  /** For programs. */
  readonly reason: string;
  /** Finds the record in the authorization log. */
  readonly requestId: string;
}

/**
 * Returns the result of a tool that was not called, for the model to read (MCP, Tools, Error Handling).
 *
 * Since 2026-07-28 a result must say that it is complete.
 */
export function toolDenialResult(
  { text, reason, requestId }: ToolDenialText,
  protocolVersion = '',
): Readonly<Record<string, unknown>> {
  return {
    ...(isStateless(protocolVersion) && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    isError: true,
    // MCP, General fields, _meta: the prefix is a reversed domain.
    _meta: { 'dev.gatehouse/reason': reason, 'dev.gatehouse/request_id': requestId },
  };
}
