import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { compilePolicy } from '../../../controller/compile/policy/compile-policy.ts';
import { buildPolicyEvaluator, isPermitted } from '../../../proxy/policy/build-policy-evaluator.ts';
import type { PolicyInput, PolicyUser } from '../../../shared/policy/language/policy-input.ts';
import type { Policy } from '../../../shared/policy/policy.ts';
import { aPolicyInput } from '../../support/policy-input.ts';

const text = readFileSync(`${import.meta.dirname}/../../../docs/policies.md`, 'utf8');
const EXAMPLE = /```yaml\n(policy:\n.*?)```/gs;

/** The examples of each section, by its heading. */
const SECTIONS = new Map(
  text.split(/^#+ /m).map((section) => {
    const [heading = ''] = section.split('\n', 1);
    return [heading, [...section.matchAll(EXAMPLE)].map(([, yaml = '']) => yaml)] as const;
  }),
);

const user = (members: Partial<PolicyUser>): Partial<PolicyInput> => ({
  identity: { subject: 'alice', groups: [], claims: {}, ...members },
});
const ANYBODY = user({});
const OF_EXAMPLE = user({ email: 'alice@example.com' });
const ENGINEER = user({ groups: ['engineers'] });
const SUPPORT = user({ groups: ['support'] });
const ADMIN = user({ groups: ['admins'] });
const NOBODY: Partial<PolicyInput> = { identity: undefined };
const tool = (toolName: string, toolArguments = {}): Partial<PolicyInput> => ({
  mcpMethod: 'tools/call',
  toolName,
  toolArguments,
});
const LIST: Partial<PolicyInput> = { mcpMethod: 'tools/list' };

type Asked = readonly [asked: Partial<PolicyInput>, permitted: boolean];

/** What the text says of its examples, in their order. */
const DECISIONS: Readonly<Record<string, readonly (readonly Asked[])[]>> = {
  Policies: [
    [
      [{ ...OF_EXAMPLE, ...tool('read_file') }, true],
      [{ ...OF_EXAMPLE, ...tool('write_file') }, false],
      [{ ...ANYBODY, ...tool('read_file') }, false],
    ],
  ],
  'Blocks and groups': [
    [
      [ENGINEER, true],
      [OF_EXAMPLE, true],
      [ANYBODY, false],
    ],
  ],
  Matchers: [
    [
      [user({ groups: ['staff', 'team-a'] }), true],
      [user({ groups: ['staff', 'team-a', 'suspended'] }), false],
    ],
  ],
  'Values that are absent': [
    [
      [user({ email: 'a@example.com', claims: { clearance: 'secret' } }), true],
      [user({ email: 'a@example.com' }), false],
      [user({ claims: { clearance: 'secret' } }), false],
      [user({ email: 'a@contractors.example.com', claims: { clearance: 'secret' } }), false],
    ],
    [
      [user({ groups: ['services'] }), true],
      [user({ email: 'a@contractors.example.com' }), false],
    ],
  ],
  Addresses: [
    [
      [{ ...OF_EXAMPLE, clientAddress: '10.1.2.3' }, true],
      [{ ...OF_EXAMPLE, clientAddress: '198.51.100.1' }, false],
      [{ ...OF_EXAMPLE, clientAddress: '' }, false],
    ],
  ],
  Preflights: [
    [
      [{ ...NOBODY, isPreflight: true, path: '/api' }, true],
      [{ ...NOBODY, isPreflight: true, path: '/internal/x' }, false],
      [{ ...NOBODY, path: '/api' }, false],
    ],
  ],
  Times: [
    [
      [{ ...SUPPORT, time: Date.parse('2026-11-02T08:00+01:00') }, true],
      [{ ...SUPPORT, time: Date.parse('2026-11-02T18:00+01:00') }, false],
      [{ ...SUPPORT, time: Date.parse('2026-11-01T12:00+01:00') }, false],
      [{ ...SUPPORT, time: Date.parse('2026-12-24T12:00+01:00') }, false],
    ],
  ],
  Tools: [
    [
      [{ ...ENGINEER, ...LIST }, true],
      [{ ...ENGINEER, ...tool('delete_all') }, false],
      [{ ...ENGINEER, ...tool('get_admins') }, false],
    ],
    [
      [{ ...ANYBODY, ...tool('drop_table') }, false],
      [{ ...user({ groups: ['dba'] }), ...tool('drop_table') }, true],
      [{ ...ANYBODY, ...tool('list') }, true],
    ],
    [
      [{ ...ANYBODY, ...tool('list_tables') }, true],
      [{ ...ANYBODY, ...tool('added_later') }, false],
      [{ ...ANYBODY, ...LIST }, true],
    ],
    [
      [{ ...ADMIN, ...LIST }, true],
      [{ ...ANYBODY, ...LIST }, false],
      [{ ...ANYBODY, ...tool('ping_database') }, true],
    ],
  ],
  'Arguments of tools': [
    [
      [{ ...ANYBODY, ...tool('query', { database: 'analytics' }) }, true],
      [{ ...ANYBODY, ...tool('query', { database: 'billing' }) }, false],
      [{ ...ANYBODY, ...tool('query') }, false],
      [{ ...ANYBODY, ...tool('list') }, true],
      [{ ...ANYBODY, ...LIST }, true],
    ],
    [
      [{ ...ADMIN, ...LIST }, true],
      [{ ...ANYBODY, ...tool('query', { database: 'analytics' }) }, true],
      [{ ...ANYBODY, ...tool('query') }, false],
      [{ ...ANYBODY, ...tool('drop', { database: 'analytics' }) }, false],
    ],
  ],
  Methods: [
    [
      [{ ...ANYBODY, ...LIST }, true],
      [{ ...ANYBODY, mcpMethod: 'logging/setLevel' }, false],
      [{ ...ANYBODY, mcpMethod: 'tasks/get' }, false],
      [{ ...ANYBODY, method: 'GET' }, true],
    ],
  ],
  'Resources and prompts': [
    [
      [{ ...ANYBODY, ...LIST }, true],
      [{ ...ANYBODY, resources: ['file:///secret/key'] }, false],
      [{ ...ANYBODY, resources: ['file:///public/key'] }, true],
      [{ ...ANYBODY, prompt: 'review' }, true],
      [{ ...ANYBODY, prompt: 'admin' }, false],
    ],
  ],
};

describe('docs/policies.md', () => {
  test('has decisions here for all of its examples', () => {
    const numbers = [...SECTIONS].map(([heading, examples]) => [heading, examples.length]);
    const decided = Object.entries(DECISIONS).map(([heading, list]) => [heading, list.length]);

    expect(decided).toEqual(numbers.filter(([, count]) => count !== 0));
  });

  test.each(
    Object.entries(DECISIONS).flatMap(([heading, examples]) =>
      examples.map((decisions, index) => ({ heading, index, decisions })),
    ),
  )('$heading, example $index, decides as the text says', ({ heading, index, decisions }) => {
    const evaluator = buildPolicyEvaluator(compiled(SECTIONS.get(heading)?.[index] ?? ''));

    const permitted = decisions.map(([asked]) =>
      isPermitted(evaluator.decide(aPolicyInput(asked))),
    );

    expect(permitted).toEqual(decisions.map(([, wanted]) => wanted));
  });
});

function compiled(yaml: string): Policy {
  const { policy } = parse(yaml) as { policy: unknown };
  const result = compilePolicy(policy, 'policy');
  if (result.kind === 'made') return result.value;
  throw new Error(JSON.stringify(result.problems));
}
