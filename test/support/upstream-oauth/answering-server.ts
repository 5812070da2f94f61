import type { UpstreamAuthOutcome } from '../../../proxy/upstream-oauth/upstream-auth-reports.ts';
import type { UpstreamServer } from '../../../proxy/upstream-oauth/upstream-authorization.ts';

/** A request to an endpoint of the server. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, string>>;
}

/** An authorization server whose responses a test gives, without a network. */
export interface AnsweringServer {
  readonly server: UpstreamServer;
  readonly requests: readonly SentRequest[];
  readonly outcomes: readonly UpstreamAuthOutcome[];
}

export const ISSUER = 'https://as.example.com';

/** Makes a server that answers every request so. */
export function serverAnswering(
  answer: (request: SentRequest) => Response | Promise<Response>,
  { server, ...members }: Partial<UpstreamServer> = {},
): AnsweringServer {
  const requests: SentRequest[] = [];
  const outcomes: UpstreamAuthOutcome[] = [];
  return {
    requests,
    outcomes,
    server: {
      issuer: ISSUER,
      isGiven: false,
      client: { id: 'gatehouse', authMethod: 'none', source: 'registered' },
      report: (outcome) => outcomes.push(outcome),
      ...members,
      server: {
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        revocation_endpoint: `${ISSUER}/revoke`,
        ...server,
      },
      fetch: async (url, { headers, body }) => {
        const form = Object.fromEntries(new URLSearchParams(body));
        const request = { url, headers, form };
        requests.push(request);
        return answer(request);
      },
    },
  };
}

/** Makes a response of JSON. */
export function jsonResponse(body: unknown, status = 200): Response {
  return Response.json(body, { status });
}
