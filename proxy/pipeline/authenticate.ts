import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import { TokenRequiredError } from '../errors/oauth-errors.ts';
import { SignInRequiredError } from '../errors/request-errors.ts';
import { readCookie, sessionCookieName } from '../http/cookies.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { ANONYMOUS, type Caller } from '../authentication/caller.ts';
import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';

/** Recognises external tokens. Without I/O, and then without a promise, while its cache is warm. */
export interface ExternalTokenAuthenticator {
  /** Throws or rejects with `TokenRequiredError` when the token is no good for the resource. */
  authenticate(
    token: string,
    expected: { readonly resource: string; readonly gatewayId: string },
  ): Caller | Promise<Caller>;
}

/** Recognises session cookies, likewise. */
export interface BrowserAuthenticator {
  /** Null when the cookie stands for no live session at this origin. */
  authenticate(cookieValue: string, origin: string): Caller | null | Promise<Caller | null>;
}

export interface Authenticators {
  readonly externalTokens: ExternalTokenAuthenticator;
  readonly browsers: BrowserAuthenticator;
}

/** Where the request came to. */
export interface AuthenticationPlace {
  readonly origin: string;
  readonly configuration: { readonly settings: Pick<CompiledSettings, 'gatewayId'> };
}

/**
 * Says who makes a request, by the kind of its route. MCP routes take an external token, and never
 * a cookie; other routes the session cookie; public ones ask nobody.
 */
export function authenticate(
  request: GatewayRequest,
  route: GatewayRoute,
  { origin, configuration }: AuthenticationPlace,
  { externalTokens, browsers }: Authenticators,
): Caller | Promise<Caller> {
  if (route.compiled.access.kind === 'public') return ANONYMOUS;
  if (route.compiled.mcpServer !== undefined) {
    return externalTokens.authenticate(bearerToken(request), {
      resource: resourceIdentifier(route.compiled, origin),
      gatewayId: configuration.settings.gatewayId,
    });
  }
  const cookie = readCookie(request.message, sessionCookieName(origin));
  if (cookie === undefined) throw new SignInRequiredError('no session cookie');
  const caller = browsers.authenticate(cookie, origin);
  return caller instanceof Promise ? caller.then(requireCaller) : requireCaller(caller);
}

function requireCaller(caller: Caller | null): Caller {
  if (caller === null) throw new SignInRequiredError('the session cookie stands for no session');
  return caller;
}

/** RFC 6750, section 2.1; the scheme's name ignores case (RFC 9110, section 11.1). */
function bearerToken({ message }: GatewayRequest): string {
  const token = /^bearer +([\w\-.~+/]+=*) *$/i.exec(message.headers.authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new TokenRequiredError('no bearer token', { tokenWasSent: false });
}
