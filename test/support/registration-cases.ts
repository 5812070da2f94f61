import { ISSUER, type Reply, type SendOptions, type TestServer } from './authorization-server.ts';
import { fieldsOf } from './client-flow.ts';

/** The registration endpoint. */
export const REGISTER = `${ISSUER}/.gateway/mcp/register`;

/** Posts client metadata; a text is sent unchanged. */
export function post(
  server: TestServer,
  members: unknown,
  options: SendOptions = {},
): Promise<Reply> {
  return server.send(REGISTER, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof members === 'string' ? members : JSON.stringify(members),
    ...options,
  });
}

const TOKEN = `${ISSUER}/.gateway/mcp/token`;

type Members = Readonly<Record<string, unknown>>;

/** The error that the token endpoint returns to a client: `invalid_grant` if it knows the client. */
export async function tokenErrorOf(
  server: TestServer,
  form: Members,
  url = TOKEN,
): Promise<unknown> {
  const parameters = { grant_type: 'authorization_code', code: 'x', code_verifier: 'x', ...form };
  const reply = await server.send(url, { method: 'POST', form: parameters });
  return fieldsOf(reply)['error'];
}
