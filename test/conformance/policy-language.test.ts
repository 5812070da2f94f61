import { describe, expect } from '@jest/globals';

import type { Identity } from '../../proxy/records/session.ts';
import { parseMessage } from '../../proxy/mcp/json-rpc.ts';
import { buildPolicyEvaluator, isPermitted } from '../../proxy/policy/build-policy-evaluator.ts';
import type { Decision } from '../../proxy/policy/decision.ts';
import { AuthorizationLog } from '../../proxy/telemetry/authorization-log.ts';
import { LineWriter } from '../../shared/telemetry/line-writer.ts';
import type { StringMatcher } from '../../shared/policy/language/criterion-definition.ts';
import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';
import type { Criterion, Policy } from '../../shared/policy/policy.ts';
import { verifies } from '../requirements/verifies.ts';
import { aDecidedRequest, SPECIFIED_LOG_FIELDS } from '../support/decided-request.ts';
import { aPolicyInput } from '../support/policy-input.ts';

const ALICE: Identity = {
  provider: 'idp',
  subject: 'alice',
  email: 'alice@example.com',
  groups: ['staff'],
  claims: {},
};
const MALLORY: Identity = { ...ALICE, subject: 'mallory', email: 'mallory@elsewhere.example' };

const OF_THE_COMPANY: Criterion = { kind: 'domain', matcher: { is: 'example.com' } };
const STAFF: Criterion = { kind: 'groups', matcher: { in: ['staff'] } };

/** Messages that call no tool, as the specification names them, and one with the same params as a call. */
const NO_TOOL_CALLS: readonly (readonly [method: string, params: object])[] = [
  ['tools/list', {}],
  ['resources/list', {}],
  ['initialize', { clientInfo: { name: 'read_file' } }],
  ['prompts/get', { name: 'read_file' }],
];

describe('The criteria of a policy', () => {
  const OR: Policy = { allow: { or: [OF_THE_COMPANY, STAFF] } };
  const AND: Policy = { allow: { and: [OF_THE_COMPANY, STAFF] } };
  const GUEST: Identity = { ...ALICE, groups: [] };
  const ADMITTED: readonly (readonly [string, Policy, Identity, boolean])[] = [
    ['and permits a user who meets every criterion', AND, ALICE, true],
    ['and denies a user who misses one criterion', AND, GUEST, false],
    ['or permits a user who meets one criterion', OR, GUEST, true],
    ['or denies a user who meets no criterion', OR, { ...MALLORY, groups: [] }, false],
  ];

  for (const [what, policy, identity, permitted] of ADMITTED) {
    verifies('policy.groups-of-criteria', what, () => {
      expect(isPermitted(decide(policy, { identity }))).toBe(permitted);
    });
  }

  verifies(
    'policy.groups-of-criteria',
    'a criterion under deny wins over those under allow',
    () => {
      const policy: Policy = { ...OR, deny: { or: [STAFF] } };
      expect(decide(policy)).toMatchObject({ allow: true, deny: true });
      expect(isPermitted(decide(policy))).toBe(false);
    },
  );

  verifies('policy.groups-of-criteria', 'a policy without allow permits nobody', () => {
    const policy: Policy = { deny: { or: [STAFF] } };
    expect(isPermitted(decide(policy, { identity: { ...ALICE, groups: [] } }))).toBe(false);
  });
});

describe('The operators of mcp_tool', () => {
  /** Returns the tools of `names` that a matcher matches. */
  function matched(matcher: StringMatcher, names: readonly string[]): readonly string[] {
    const policy: Policy = { allow: { and: [{ kind: 'mcp_tool', matcher }] } };
    return names.filter((toolName) => isPermitted(decide(policy, { toolName })));
  }

  verifies('policy.operator-is', 'is matches the exact name of a tool', () => {
    const names = ['read', 'Read', 'read_file', 'a_read', 'read ', ''];
    expect(matched({ is: 'read' }, names)).toEqual(['read']);
  });

  verifies('policy.operator-starts-with', 'starts_with matches a prefix', () => {
    const names = ['read_', 'read_file', 'a_read_', 'Read_file', 'read', ''];
    expect(matched({ starts_with: 'read_' }, names)).toEqual(['read_', 'read_file']);
  });

  verifies('policy.operator-ends-with', 'ends_with matches a suffix', () => {
    const names = ['_file', 'read_file', 'read_files', 'read_File', 'file', ''];
    expect(matched({ ends_with: '_file' }, names)).toEqual(['_file', 'read_file']);
  });

  verifies('policy.operator-contains', 'contains matches a substring', () => {
    const names = ['file', 'read_file', 'files_read', 'fi_le', 'FILE', ''];
    expect(matched({ contains: 'file' }, names)).toEqual(['file', 'read_file', 'files_read']);
  });

  verifies('policy.operator-in', 'in matches one of its values', () => {
    const names = ['read', 'write', 'read_file', 'Write', 'readwrite', ''];
    expect(matched({ in: ['read', 'write'] }, names)).toEqual(['read', 'write']);
  });

  verifies('policy.operator-not-in', 'not_in matches none of its values', () => {
    const names = ['read', 'write', 'read_file', 'Write', ''];
    expect(matched({ not_in: ['read', 'write'] }, names)).toEqual(['read_file', 'Write', '']);
  });

  verifies('policy.operator-not-in', 'not_in under deny makes an allowlist', () => {
    const policy = underDeny({ not_in: ['read', 'write'] });
    const names = ['read', 'write', 'drop_table'];
    const permitted = names.filter((toolName) => isPermitted(decide(policy, { toolName })));
    expect(permitted).toEqual(['read', 'write']);
  });
});

describe('Evaluation rule 1: mcp_tool applies to tools/call only', () => {
  const EVERY_MATCHER: readonly StringMatcher[] = [
    { is: 'read_file' },
    { starts_with: '' },
    { ends_with: '' },
    { contains: '' },
    { in: ['read_file', ''] },
    { not_in: ['drop_table'] },
  ];

  for (const [method, params] of NO_TOOL_CALLS) {
    verifies(
      'policy.tool-only-for-calls',
      `mcp_tool is false for ${method}, whatever the operator`,
      () => {
        const asked = { toolName: toolNameOf(method, params) };
        for (const matcher of EVERY_MATCHER) {
          const criterion: Criterion = { kind: 'mcp_tool', matcher };
          expect(decide({ allow: { and: [criterion] } }, asked).allow).toBe(false);
          expect(decide({ deny: { and: [criterion] } }, asked).deny).toBe(false);
        }
      },
    );
  }
});

describe('Evaluation rule 2: the name is that of the payload', () => {
  const NAMES: readonly string[] = [
    'read_file',
    'Read_file',
    ' read_file',
    '',
    'größer',
    '__proto__',
  ];

  for (const name of NAMES) {
    verifies(
      'policy.tool-name-of-payload',
      `mcp_tool matches the name ${JSON.stringify(name)} as it is in the payload`,
      () => {
        const params = { name, arguments: { name: 'another' }, _meta: { name: 'a third' } };
        const asked = { toolName: toolNameOf('tools/call', params) };
        const isNamed = (is: string): boolean => {
          const criterion: Criterion = { kind: 'mcp_tool', matcher: { is } };
          return decide({ allow: { and: [criterion] } }, asked).allow;
        };
        expect(['another', 'a third', name].map(isNamed)).toEqual([false, false, true]);
      },
    );
  }
});

describe('Evaluation rule 3: mcp_tool under deny', () => {
  for (const [method, params] of NO_TOOL_CALLS) {
    verifies(
      'policy.deny-spares-other-methods',
      `mcp_tool under deny does not block ${method}`,
      () => {
        const policy = underDeny({ not_in: ['read_file'] });
        const asked = { toolName: toolNameOf(method, params) };
        expect(isPermitted(decide(policy, asked))).toBe(true);
        expect(isPermitted(decide(policy, { ...asked, identity: MALLORY }))).toBe(false);
      },
    );
  }
});

describe('Evaluation rule 4: mcp_tool only under allow', () => {
  for (const [method, params] of NO_TOOL_CALLS) {
    verifies(
      'policy.allow-needs-other-clauses',
      `mcp_tool alone under allow denies ${method}, which another clause can permit`,
      () => {
        const asked = { toolName: toolNameOf(method, params) };
        const tool: Criterion = { kind: 'mcp_tool', matcher: { is: 'read_file' } };
        expect(isPermitted(decide({ allow: { and: [OF_THE_COMPANY, tool] } }, asked))).toBe(false);
        expect(isPermitted(decide({ allow: { or: [tool] } }, asked))).toBe(false);
        expect(isPermitted(decide({ allow: { or: [STAFF, tool] } }, asked))).toBe(true);
      },
    );
  }
});

describe('Evaluation rule 5: the log of a tool call', () => {
  const PLACEMENTS: readonly (readonly [string, Policy])[] = [
    ['under allow', underAllow({ is: 'read_file' })],
    ['under deny', underDeny({ not_in: ['read_file'] })],
  ];

  for (const [where, policy] of PLACEMENTS) {
    verifies(
      'policy.tool-reasons',
      `the record of a call that mcp_tool ${where} permits has allow true and mcp-tool-ok`,
      () => {
        expect(recordOf(policy, 'read_file')).toMatchObject({
          'mcp-method': 'tools/call',
          'mcp-tool': 'read_file',
          allow: true,
          'allow-why-true': expect.arrayContaining(['domain-ok', 'mcp-tool-ok']),
          deny: false,
        });
      },
    );

    verifies(
      'policy.tool-reasons',
      `the record of a call that mcp_tool ${where} blocks has allow false and mcp-tool-unauthorized`,
      () => {
        const record = recordOf(policy, 'drop_table');
        expect(record).toMatchObject({
          'mcp-tool': 'drop_table',
          allow: false,
          'allow-why-false': ['mcp-tool-unauthorized'],
        });
        expect(record).not.toHaveProperty('allow-why-true');
      },
    );
  }
});

function underAllow(matcher: StringMatcher): Policy {
  return { allow: { and: [OF_THE_COMPANY, { kind: 'mcp_tool', matcher }] } };
}

/** The policy that the specification recommends. */
function underDeny(matcher: StringMatcher): Policy {
  return { allow: { and: [OF_THE_COMPANY] }, deny: { and: [{ kind: 'mcp_tool', matcher }] } };
}

/** Returns a policy's decision on a request of Alice that calls no tool unless `asked` names one. */
function decide(policy: Policy, asked: Partial<PolicyInput> = {}): Decision {
  return buildPolicyEvaluator(policy).decide(aPolicyInput({ identity: ALICE, ...asked }));
}

/** Returns the tool that a message calls, as the pipeline reads it from the body. */
function toolNameOf(method: string, params: object): string | undefined {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return parseMessage(Buffer.from(body)).toolName;
}

/** Returns the authorization log record of a tool call of Alice. */
function recordOf(policy: Policy, name: string): unknown {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } };
  const message = parseMessage(Buffer.from(JSON.stringify(body)));
  const decision = decide(policy, { toolName: message.toolName });
  let written = '';
  const writer = new LineWriter({ write: (text) => (written += text) });
  const checked = aDecidedRequest({ identity: ALICE, message });
  new AuthorizationLog(writer, Date.now).write(checked, decision, SPECIFIED_LOG_FIELDS);
  writer.flush();
  return JSON.parse(written);
}
