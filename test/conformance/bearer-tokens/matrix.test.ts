import { describe, expect } from '@jest/globals';

import { CREDENTIALS } from '../../support/bearer-matrix/credentials.ts';
import {
  startMatrixWorld,
  type MatrixFormat,
  type MatrixRoute,
} from '../../support/bearer-matrix/matrix-world.ts';
import {
  IDENTITY_TOKEN,
  JWT_ACCESS_TOKEN,
  OPAQUE_ACCESS_TOKEN,
  type TokenKind,
} from '../../support/bearer-matrix/token-kinds.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { verifies } from '../../requirements/verifies.ts';

/** The format and the kinds of the routes of each column, and the kind of token that rows change. */
const COLUMNS: readonly (readonly [MatrixFormat, readonly MatrixRoute[], TokenKind])[] = [
  ['default', ['web'], JWT_ACCESS_TOKEN],
  ['default', ['mcp'], JWT_ACCESS_TOKEN],
  ['idp_access_token', ['web', 'mcp'], JWT_ACCESS_TOKEN],
  ['idp_access_token', ['web', 'mcp'], OPAQUE_ACCESS_TOKEN],
  ['idp_identity_token', ['web', 'mcp'], IDENTITY_TOKEN],
  ['jwt', ['web', 'mcp'], JWT_ACCESS_TOKEN],
];

/**
 * What each route makes of each credential: the status, the challenge, the reason in the log, and the user. A
 * reason alone is 401 with `error="invalid_token"`. Where two answers are in a cell, the second is of the MCP
 * route, whose challenges have `resource_metadata`, and no others. `-` is what an opaque token cannot be.
 */
const TABLE = `
credential               | default, web | default, MCP  | access token, JWT                      | access token, opaque                   | identity token                         | jwt
none                     | 401          | 401 challenge | 401 challenge no-token / 401 challenge | 401 challenge no-token / 401 challenge | 401 challenge no-token / 401 challenge | 401 challenge no-token / 401 challenge
session cookie           | 401          | 401 challenge | 401 challenge no-token / 401 challenge | 401 challenge no-token / 401 challenge | 401 challenge no-token / 401 challenge | 401 challenge no-token / 401 challenge
cookie and bearer        | 401          | malformed     | 400 cookie-and-bearer-token            | 400 cookie-and-bearer-token            | 400 cookie-and-bearer-token            | 400 cookie-and-bearer-token
valid                    | 401          | malformed     | 200 alice                              | 200 alice                              | 200 alice                              | 200 alice
lower-case scheme        | 401          | malformed     | 200 alice                              | 200 alice                              | 200 alice                              | 200 alice
two Authorization fields | 401          | malformed     | 400 several-authorizations             | 400 several-authorizations             | 400 several-authorizations             | 400 several-authorizations
huge token               | 401          | malformed     | token-too-long                         | token-too-long                         | token-too-long                         | token-too-long
unknown text             | 401          | malformed     | inactive-token                         | inactive-token                         | malformed-token                        | malformed-token
expired                  | 401          | malformed     | token-expired                          | -                                      | token-expired                          | token-expired
not yet valid            | 401          | malformed     | token-not-yet-valid                    | -                                      | token-not-yet-valid                    | token-not-yet-valid
wrong audience           | 401          | malformed     | wrong-audience                         | wrong-audience                         | wrong-audience                         | wrong-audience
no audience              | 401          | malformed     | no-audience                            | -                                      | no-audience                            | no-audience
several audiences        | 401          | malformed     | 200 alice                              | -                                      | other-client                           | 200 alice
several, and azp         | 401          | malformed     | 200 alice                              | -                                      | 200 alice                              | 200 alice
wrong issuer             | 401          | malformed     | unknown-issuer                         | -                                      | unknown-issuer                         | unknown-issuer
issuer with a slash      | 401          | malformed     | unknown-issuer                         | -                                      | unknown-issuer                         | unknown-issuer
alg none                 | 401          | malformed     | algorithm-refused                      | -                                      | algorithm-refused                      | algorithm-refused
HS256, public key        | 401          | malformed     | algorithm-refused                      | -                                      | algorithm-refused                      | algorithm-refused
bad signature            | 401          | malformed     | bad-signature                          | -                                      | bad-signature                          | bad-signature
ES256                    | 401          | malformed     | 200 alice                              | -                                      | 200 alice                              | 200 alice
ES256 in DER             | 401          | malformed     | bad-signature                          | -                                      | bad-signature                          | bad-signature
unknown key              | 401          | malformed     | unknown-key                            | -                                      | unknown-key                            | unknown-key
another provider's       | 401          | malformed     | unknown-issuer                         | inactive-token                         | unknown-issuer                         | 200 alice
another's, our audience  | 401          | malformed     | unknown-issuer                         | inactive-token                         | unknown-issuer                         | wrong-audience
identity token           | 401          | malformed     | wrong-token-type                       | wrong-token-type                       | 200 alice                              | wrong-audience
JWT access token         | 401          | malformed     | 200 alice                              | 200 alice                              | wrong-token-type                       | 200 alice
opaque access token      | 401          | malformed     | 200 alice                              | 200 alice                              | malformed-token                        | malformed-token
rotated key              | 401          | malformed     | 200 alice                              | -                                      | 200 alice                              | 200 alice
withdrawn key            | 401          | malformed     | unknown-key                            | -                                      | unknown-key                            | unknown-key
`;

const world = openForAll(startMatrixWorld);

describe('A request on routes of every format', () => {
  const [, ...rows] = TABLE.trim().split('\n').map(cellsOf);
  for (const [credential = '', ...cells] of rows) {
    verifies('bearer.matrix', `is answered as the table says: ${credential}`, async () => {
      expect(await answersTo(credential, cells)).toEqual(cells.map(spelledOut));
    });
  }

  verifies('bearer.matrix', 'has no credential that the table leaves out', () => {
    expect(rows.map(([credential]) => credential)).toEqual(Object.keys(CREDENTIALS));
  });
});

function cellsOf(line: string): readonly string[] {
  return line.split(' | ').map((cell) => cell.trim());
}

/** Returns what the routes of each column answer; nothing is asked for an empty cell. */
async function answersTo(credential: string, cells: readonly string[]): Promise<readonly string[]> {
  const make = CREDENTIALS[credential];
  if (make === undefined) throw new Error(`there is no credential "${credential}"`);
  const answers: string[] = [];
  for (const [index, [format, routes, kind]] of COLUMNS.entries()) {
    if (cells[index] === '-') answers.push('-');
    else {
      const headers = await make(kind, world());
      const ofRoutes = new Set<string>();
      for (const route of routes) ofRoutes.add(await world().ask(format, route, headers));
      answers.push([...ofRoutes].join(' / '));
    }
  }
  return answers;
}

function spelledOut(cell: string): string {
  return /^[a-z]/.test(cell) ? `401 invalid_token ${cell}` : cell;
}
