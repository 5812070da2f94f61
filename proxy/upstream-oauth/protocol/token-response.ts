import { isRecord } from '../../../shared/runtime/is-record.ts';

/**
 * Rewrites what real token endpoints answer into what RFC 6749, section 5, says, without the parts that the
 * gateway does not use. Undefined if the answer is neither tokens nor a refusal.
 */
export async function conformTokenResponse(response: Response): Promise<Response | undefined> {
  const members = membersIn(await response.text(), response.headers.get('content-type') ?? '');
  const { status, ok } = response;
  if (members === undefined || status >= SERVER_ERROR || status === TOO_MANY_REQUESTS) {
    return undefined;
  }
  const { error, access_token: accessToken } = members;
  if (typeof error === 'string' && error !== '') {
    // GitHub, Slack and others refuse with status 200.
    return json({ error: STANDARD_CODES.get(error) ?? error }, BAD_REQUEST);
  }
  const isSuccess = ok && typeof accessToken === 'string';
  return isSuccess ? json(conformTokens(members), OK) : undefined;
}

const OK = 200;
const BAD_REQUEST = 400;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/** Words that well-known servers use for those of RFC 6749, section 5.2. */
const STANDARD_CODES: ReadonlyMap<string, string> = new Map([
  // GitHub
  ['bad_refresh_token', 'invalid_grant'],
  ['bad_verification_code', 'invalid_grant'],
  ['incorrect_client_credentials', 'invalid_client'],
  // Slack
  ['invalid_refresh_token', 'invalid_grant'],
  ['invalid_code', 'invalid_grant'],
  ['bad_client_secret', 'invalid_client'],
]);

type Members = Readonly<Record<string, unknown>>;

function membersIn(text: string, contentType: string): Members | undefined {
  if (/^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType)) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // A page of HTML, for example. The error would quote it.
    return undefined;
  }
}

/** No member but these is read. An identity token is for a client that wants to know who the user is. */
function conformTokens(members: Members): Members {
  const { access_token, token_type, refresh_token, expires_in, scope } = members;
  return {
    access_token,
    token_type,
    ...(isText(refresh_token) && { refresh_token }),
    ...(isLifetime(expires_in) && { expires_in: Number(expires_in) }),
    ...(isText(scope) && { scope }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Zero, as well as null and words, is what servers send whose tokens do not expire. */
function isLifetime(value: unknown): boolean {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0;
}

function json(members: Members, status: number): Response {
  return Response.json(members, { status });
}
