import { isRecord } from '../../../shared/runtime/is-record.ts';

const OK = 200;
const CREATED = 201;

/**
 * Returns a response to a registration as RFC 7591, section 3.2.1, has it, of servers that deviate in ways that
 * harm nobody: some answer with 200, and some do not say that a secret never expires.
 */
export async function conformRegistration(response: Response): Promise<Response> {
  if (response.status !== OK && response.status !== CREATED) return response;
  const text = await response.text();
  const { headers } = response;
  const body = withExpiry(text) ?? text;
  return new Response(body, { status: CREATED, headers });
}

function withExpiry(text: string): string | undefined {
  const registration = parse(text);
  if (!isRecord(registration) || registration['client_secret'] === undefined) return undefined;
  if (registration['client_secret_expires_at'] !== undefined) return undefined;
  return JSON.stringify({ ...registration, client_secret_expires_at: 0 });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
