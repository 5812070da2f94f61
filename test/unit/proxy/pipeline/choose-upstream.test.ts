import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

import { expect, test } from '@jest/globals';

import type { Caller } from '../../../../proxy/authentication/caller.ts';
import { authorize } from '../../../../proxy/pipeline/authorize.ts';
import { chooseUpstream } from '../../../../proxy/pipeline/choose-upstream.ts';
import { buildPolicyEvaluator } from '../../../../proxy/policy/build-policy-evaluator.ts';
import { rankOf } from '../../../../proxy/forwarding/targets/rank.ts';
import type { Identity } from '../../../../proxy/records/session.ts';
import { userKey } from '../../../../proxy/records/user-key.ts';
import { AuthorizationLog } from '../../../../proxy/telemetry/authorization-log.ts';
import { LineWriter } from '../../../../shared/telemetry/line-writer.ts';
import { aCompiledRoute } from '../../../support/compiled-resources.ts';

const BACKEND = { service: 'team/server', port: 80, weight: 1 };

const ROUTE = {
  compiled: aCompiledRoute({
    mcpServer: { path: '/mcp', maxRequestBytes: 4_096 },
    backends: [BACKEND],
  }),
  policy: buildPolicyEvaluator({ allow: { and: [{ kind: 'accept' }] } }),
  mcpPaths: undefined,
};

const TARGETS = [{ origin: 'http://192.0.2.7:80', rank: 1 }];

function identityOf(subject: string, issuer: string): Identity {
  return { provider: 'idp', issuer, subject, groups: [], claims: {} };
}

/** The rank with which the requests of a user go to a Service. */
function rankIn(identity: Identity): number | undefined {
  const session = { id: 's', signInId: 'i', identity, createdAt: 0, expiresAt: 1 };
  const caller: Caller = { kind: 'user', via: 'external-token', session };
  const request = {
    id: 'r-1',
    method: 'GET',
    path: '/mcp',
    query: '',
    authority: 'app.example.com',
    remoteAddress: '192.0.2.1',
    message: new IncomingMessage(new Socket()),
  };
  const authorizationLog = new AuthorizationLog(new LineWriter({ write: () => true }));
  const configuration = {
    settings: { authorizeLogFields: [] },
    services: new Map([['team/server', new Map([[80, TARGETS]])]]),
  };
  const permit = authorize(ROUTE, caller, {
    request,
    body: undefined,
    authorizationLog,
    configuration,
    now: () => 0,
  });
  return chooseUpstream(permit, { configuration, random: () => 0 }).choice?.callerRank;
}

test('the requests of a user have the rank of the user, whoever else makes requests', () => {
  const users = [
    identityOf('alice', 'https://one.example'),
    identityOf('alice', 'https://two.example'),
    identityOf('bob', 'https://one.example'),
  ];
  // The identity of a session that is made later is another object.
  const later = users.map((identity) => ({ ...identity }));
  const asked = [...users, ...later, ...users];
  expect(asked.map(rankIn)).toEqual(asked.map((identity) => rankOf(userKey(identity))));
  expect(new Set(asked.map(rankIn)).size).toBe(3);
});
