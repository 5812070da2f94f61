import { withoutControls } from '../without-controls.ts';
import { upstreamCallbackUrl } from '../../proxy/upstream-oauth/registration/client-metadata.ts';
import type { RecordedCall } from './call-recorder.ts';
import type { Failure, Findings, FoundAuthorization } from './examine.ts';
import type { Patient } from './patient.ts';
import type { ClientPlan } from './plan-client.ts';

const EXPECTED: Readonly<Record<string, string>> = {
  challenge: 'status 401 with a Bearer challenge',
  'resource-metadata': 'status 200 with the metadata of the resource',
  'server-metadata': 'status 200 with the metadata of the authorization server',
  registration: 'status 200 with the client ID metadata document',
  token: 'an OAuth error, because the token is made up',
};

/** Where the settings have the domains. */
const DOMAINS = 'mcpAllowedAsMetadataDomains';

/** Returns the text of `gatehouse doctor` about a patient. */
export function renderFindings(patient: Patient, findings: Findings): string {
  const { failure, found, missingDomains } = findings;
  const lines = [
    ...[titleOf(patient), ''],
    ...findings.calls.flatMap((call, index) => {
      const isLast = !findings.calls.slice(index + 1).some(({ step }) => step === call.step);
      return stepLines(call, isLast ? failure : undefined, missingDomains);
    }),
    ...(found === undefined ? [] : ['', ...foundLines(found, patient)]),
    '',
    ...domainLines(missingDomains),
    ...verdictLines(failure, patient),
    '',
  ];
  return lines.map((line) => withoutControls(line)).join('\n');
}

function titleOf({ kind, upstream: { route, url } }: Patient): string {
  if (kind === 'upstream') return `The upstream ${url}, as the gateway would ask it`;
  if (kind === 'own-route') return `Route ${route} at ${url}, as an MCP client would ask it`;
  return `Route ${route}: its upstream ${url}, as the gateway asks it`;
}

function stepLines(
  { step, method, url, status, got }: RecordedCall,
  failure: Failure | undefined,
  missingDomains: readonly string[],
): readonly string[] {
  const isFailure = failure?.step === step;
  const host = URL.parse(url)?.hostname ?? '';
  return [
    `${isFailure ? 'FAIL' : markOf(step, status)} ${method} ${url}`,
    `     expected: ${EXPECTED[step] ?? ''}`,
    `     got:      ${got}`,
    ...(isFailure ? [`     wrong:    ${failure.message}`] : []),
    ...(missingDomains.includes(host) ? [`     missing:  ${host} in ${DOMAINS}`] : []),
  ];
}

/** What is not there is looked for at the next place. */
function markOf(step: string, status: number | undefined): string {
  const isThere = step === 'token' || status === (step === 'challenge' ? 401 : 200);
  return isThere ? 'ok  ' : 'none';
}

function foundLines(
  { server, resource, scopes, client }: FoundAuthorization,
  { upstream, origin }: Patient,
): readonly string[] {
  // With given endpoints nobody says who the authorization server is.
  const issuer = upstream.oauth.endpoints === undefined ? server.issuer : 'not known, nor needed';
  return [
    `resource:               ${resource}`,
    `authorization server:   ${issuer}`,
    `authorization endpoint: ${server.authorization_endpoint ?? ''}`,
    `token endpoint:         ${server.token_endpoint ?? ''}`,
    `client:                 ${CLIENTS[client.kind](client.value)}`,
    ...(client.kind === 'given' && origin !== undefined
      ? [`redirect URI:           ${upstreamCallbackUrl(origin)}; this client must have it there`]
      : []),
    `scopes:                 ${scopes.length === 0 ? 'none are asked for' : scopes.join(' ')}`,
  ];
}

const CLIENTS: Readonly<Record<ClientPlan['kind'], (value: string) => string>> = {
  given: (id) => `${id}, as given; whether the server knows it shows when the first user connects`,
  'metadata-document': (url) => `the metadata document ${url}`,
  registration: (url) => `registers at ${url}; that was not tried`,
};

function domainLines(domains: readonly string[]): readonly string[] {
  if (domains.length === 0) return [];
  return [
    `The gateway needs these entries in ${DOMAINS} of GatewaySettings`,
    `(plain YAML: mcp_allowed_as_metadata_domains): ${domains.join(', ')}`,
  ];
}

const NOTHING_FOUND =
  'If the URL of the upstream is right, set authorizationServerUrl of the Route, or give clientId and both endpoints.';

function verdictLines(failure: Failure | undefined, { kind }: Patient): readonly string[] {
  if (failure === undefined) return ['Connecting could succeed.'];
  const { reason, message, missing } = failure;
  const { setting, entry } = missing ?? {};
  const advice =
    setting === undefined
      ? []
      : [`Missing: ${setting}${entry === undefined ? '' : ` with ${entry}`}`];
  const isNotFound = reason === 'upstream-auth-not-found' && kind !== 'own-route';
  return [
    `Connecting fails: ${reason}: ${message}`,
    ...advice,
    ...(isNotFound ? [NOTHING_FOUND] : []),
  ];
}
