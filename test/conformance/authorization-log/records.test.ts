import { describe, expect } from '@jest/globals';

import type { Route } from '../../../crds/types.ts';
import {
  DECISION_FIELDS,
  EVERY_FIELD,
  LIST,
  MCP_FIELDS,
  openAuthorizationLog,
  POLICY,
  toolCall,
  withoutFrame,
  type LogRecord,
} from '../../support/authorization-log-world.ts';
import { send } from '../../support/http-client.ts';
import { mcpHeaders } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

type Policy = NonNullable<Route['spec']['policy']>;

const world = openAuthorizationLog();

describe('A record of the authorization log', () => {
  verifies('log.record', 'a record has its time, its kind, the user and the request', async () => {
    await world().serve(POLICY, EVERY_FIELD);
    const { headers } = await world().call(toolCall('echo', { text: 'hi' }));

    const { time, ...fields } = world().record();
    expect(new Date(String(time)).toISOString()).toBe(time);
    expect(fields).toEqual({
      ...{ level: 'info', service: 'authorize', message: 'authorize check' },
      ...{ 'mcp-method': 'tools/call', 'mcp-tool': 'echo', 'mcp-tool-parameters': { text: 'hi' } },
      ...{ 'request-id': headers['x-request-id'], user: 'alice', email: 'alice@example.com' },
      ...{ allow: true, 'allow-why-true': ['domain-ok', 'mcp-tool-ok'] },
      ...{ deny: false, 'deny-why-false': ['mcp-tool-ok'] },
    });
    const { message } = world().upstream.requests.at(-1) ?? {};
    expect(message?.headers['x-request-id']).toBe(fields['request-id']);
  });

  verifies(
    ['log.record', 'log.reasons', 'errors.tool-denied', 'policy.tool-reasons'],
    'a record of a tool that deny blocks has allow false and mcp-tool-unauthorized',
    async () => {
      await world().serve(POLICY, EVERY_FIELD);
      await world().call(toolCall('delete_all'));
      expect(world().record()).toMatchObject({
        ...{ 'mcp-tool': 'delete_all', allow: false, deny: true },
        'allow-why-false': ['mcp-tool-unauthorized'],
        'deny-why-true': ['mcp-tool-unauthorized'],
      });
      expect(world().record()).not.toHaveProperty('allow-why-true');
      expect(world().record()).not.toHaveProperty('deny-why-false');
    },
  );

  verifies(
    ['log.record', 'log.reasons', 'errors.tool-denied', 'policy.tool-reasons'],
    'a record of a tool that allow does not name has allow false and mcp-tool-unauthorized',
    async () => {
      await world().serve({ allow: { and: [{ mcp_tool: { is: 'echo' } }] } }, EVERY_FIELD);
      await world().call(toolCall('delete_all'));
      expect(world().record()).toMatchObject({
        ...{ allow: false, deny: false, 'allow-why-false': ['mcp-tool-unauthorized'] },
      });
    },
  );

  verifies(
    ['log.reasons', 'policy.tool-reasons'],
    'a record of a tool that allow names has allow true and mcp-tool-ok',
    async () => {
      await world().serve({ allow: { and: [{ mcp_tool: { is: 'echo' } }] } }, EVERY_FIELD);
      await world().call(toolCall('echo'));
      expect(world().record()).toMatchObject({ allow: true, 'allow-why-true': ['mcp-tool-ok'] });
    },
  );

  const REASONS: readonly (readonly [Policy, LogRecord])[] = [
    [
      { allow: { or: [{ authenticated_user: true }] } },
      { allow: true, 'allow-why-true': ['authenticated-user'] },
    ],
    [
      { allow: { and: [{ domain: 'example.org' }] } },
      { allow: false, 'allow-why-false': ['domain-unauthorized'] },
    ],
    [
      { allow: { and: [{ groups: { has: 'engineering' } }, { email: 'bob@example.com' }] } },
      { allow: false, 'allow-why-false': ['email-unauthorized'] },
    ],
    [
      { allow: { and: [{ accept: true }] }, deny: { and: [{ user: 'alice' }] } },
      { allow: true, 'allow-why-true': ['accept'], deny: true, 'deny-why-true': ['user-ok'] },
    ],
  ];

  for (const [policy, expected] of REASONS) {
    verifies(
      'log.reasons',
      `a record of a decision by ${JSON.stringify(policy)} has its reasons`,
      async () => {
        await world().serve(policy, [...DECISION_FIELDS]);
        await world().call(LIST);
        expect(world().record()).toMatchObject(expected);
      },
    );
  }

  verifies(
    ['log.reasons', 'policy.tool-reasons'],
    'a record of tools/list says why a deny by tools did not apply',
    async () => {
      await world().serve(POLICY, EVERY_FIELD);
      await world().call(LIST);
      expect(world().record()).toMatchObject({
        ...{ allow: true, 'allow-why-true': ['domain-ok'] },
        ...{ deny: false, 'deny-why-false': ['mcp-no-tool'] },
      });
    },
  );

  verifies(
    ['log.reasons', 'policy.tool-reasons'],
    'a record of a permitted tool has mcp-tool-ok, also if the policy names no tool',
    async () => {
      await world().serve({ allow: { and: [{ domain: 'example.com' }] } }, EVERY_FIELD);
      await world().call(toolCall('echo'));
      expect(world().record()).toMatchObject({
        ...{ allow: true, 'allow-why-true': ['domain-ok', 'mcp-tool-ok'], deny: false },
      });
    },
  );

  verifies('log.mcp-fields', 'a record of tools/list has the method and no tool', async () => {
    await world().serve(POLICY, EVERY_FIELD);
    await world().call(LIST);
    expect(world().record()).toMatchObject({ 'mcp-method': 'tools/list', allow: true });
    expect(world().record()).not.toHaveProperty('mcp-tool');
    expect(world().record()).not.toHaveProperty('mcp-tool-parameters');
  });

  verifies('log.mcp-fields', 'a record of another method with a name has no tool', async () => {
    await world().serve(POLICY, EVERY_FIELD);
    await world().call({
      ...LIST,
      method: 'prompts/get',
      params: { name: 'p', arguments: { a: '1' } },
    });
    expect(withoutFrame(world().record())).not.toHaveProperty('mcp-tool');
    expect(world().record()).toMatchObject({ 'mcp-method': 'prompts/get' });
  });

  verifies(
    'log.mcp-fields',
    'a record of a request without a method has no field of MCP',
    async () => {
      await world().serve(POLICY, [...MCP_FIELDS, 'user']);
      await world().call({ jsonrpc: '2.0', id: 1, result: {} });
      await send(world().mcp, { headers: mcpHeaders(world().client.accessToken) });
      expect(world().records().map(withoutFrame)).toEqual([{ user: 'alice' }, { user: 'alice' }]);
    },
  );

  verifies(
    'log.mcp-fields',
    'a record of a call without arguments has empty parameters',
    async () => {
      await world().serve(POLICY, EVERY_FIELD);
      await world().call({ ...LIST, method: 'tools/call', params: { name: 'echo' } });
      expect(world().record()).toMatchObject({ 'mcp-tool': 'echo', 'mcp-tool-parameters': {} });
    },
  );

  verifies(
    'log.record',
    'a record is one line with one decision, whatever the names of the tool and its arguments',
    async () => {
      await world().serve(POLICY, EVERY_FIELD);
      const name = 'delete_","allow":true,"x":"\n{"message":"authorize check"}\u2028';
      await world().call(toolCall(name, { 'a"\n': '\u0000' }));
      expect(world().record()).toMatchObject({
        ...{ 'mcp-tool': name, 'mcp-tool-parameters': { 'a"\n': '\u0000' }, allow: false },
      });
    },
  );
});
