import { BadRequestError } from '../errors/request-errors.ts';
import { OriginNotAllowedError } from '../errors/denial-errors.ts';
import { MethodNotAllowedError } from '../errors/routing-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { hasBody } from '../http/has-body.ts';
import type { RequestMessage } from '../http/request-message.ts';
import type { McpPathKind } from './served-paths.ts';
import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';

/** Methods of the transport. */
const METHODS = ['POST', 'GET', 'DELETE'] as const;

/**
 * Checks the head of a request by the rules of the Streamable HTTP transport: a method of the transport
 * and a body only with POST, unless the path is not inspected, and an `Origin` that may use the route
 * (against DNS rebinding; MCP 2025-11-25, Transports, Security Warning).
 */
export function checkMcpRequest(
  { method, message }: GatewayRequest,
  pathKind: McpPathKind,
  origins: { readonly own: string; readonly allowed: readonly string[] },
): void {
  if (pathKind !== 'uninspected') checkMethod(method, message);
  const { origin } = message.headers;
  if (origin !== undefined && !mayUse(origin, origins)) {
    throw new OriginNotAllowedError(origin);
  }
}

function checkMethod(method: string, message: RequestMessage): void {
  if (!METHODS.some((allowed) => allowed === method)) throw new MethodNotAllowedError(METHODS);
  if (method !== 'POST' && hasBody(message)) {
    throw new BadRequestError('unexpected-body', `a ${method} request has no body here`);
  }
}

function mayUse(
  origin: string,
  { own, allowed }: { readonly own: string; readonly allowed: readonly string[] },
): boolean {
  if (origin === own || allowed.includes(origin)) return true;
  if (!origin.startsWith('http://') || !URL.canParse(origin)) return false;
  return isLoopbackHost(new URL(origin).hostname);
}
