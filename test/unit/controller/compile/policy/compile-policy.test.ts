import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { compilePolicy } from '../../../../../controller/compile/policy/compile-policy.ts';

function compile(yaml: string): ReturnType<typeof compilePolicy> {
  return compilePolicy(parse(yaml), 'spec.policy');
}

function problemsOf(yaml: string): readonly string[] {
  const outcome = compile(yaml);
  if (outcome.kind === 'made') return [];
  return outcome.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe('a criterion', () => {
  test.each([
    ['accept: true', { kind: 'accept' }],
    ['reject: ""', { kind: 'reject' }],
    ['authenticated_user:', { kind: 'authenticated_user' }],
    ['user: u1', { kind: 'user', matcher: { is: 'u1' } }],
    [
      'email: { ends_with: "@Example.com" }',
      { kind: 'email', matcher: { ends_with: '@Example.com' } },
    ],
    ['domain: example.com', { kind: 'domain', matcher: { is: 'example.com' } }],
    ['user: { not: u1 }', { kind: 'user', matcher: { not_in: ['u1'] } }],
    [
      'groups: { exclude: interns, not_in: [guests] }',
      { kind: 'groups', matcher: { not_in: ['interns', 'guests'] } },
    ],
    ['groups: admins', { kind: 'groups', matcher: { is: 'admins' } }],
    ['groups: { has: admins }', { kind: 'groups', matcher: { is: 'admins' } }],
    [
      'groups: { has: admins, not_in: [interns] }',
      { kind: 'groups', matcher: { is: 'admins', not_in: ['interns'] } },
    ],
    [
      'claim/department: { has: it }',
      { kind: 'claim', path: ['department'], matcher: { is: 'it' } },
    ],
    ['claim/a/b: { in: [x, y] }', { kind: 'claim', path: ['a', 'b'], matcher: { in: ['x', 'y'] } }],
    ['http_method: { in: [GET, HEAD] }', { kind: 'http_method', matcher: { in: ['GET', 'HEAD'] } }],
    ['http_method: M-SEARCH', { kind: 'http_method', matcher: { is: 'M-SEARCH' } }],
    [
      'http_path: { starts_with: /files/., ends_with: .git/config, contains: "%5B" }',
      {
        kind: 'http_path',
        matcher: { starts_with: '/files/.', ends_with: '.git/config', contains: '%5B' },
      },
    ],
    ['http_path: { contains: "%" }', { kind: 'http_path', matcher: { contains: '%' } }],
    ['http_path: { contains: "/." }', { kind: 'http_path', matcher: { contains: '/.' } }],
    ['http_path: { contains: admin }', { kind: 'http_path', matcher: { contains: 'admin' } }],
    [
      'mcp_tool: { starts_with: get_, contains: _all_, not_in: [get_all_secrets] }',
      {
        kind: 'mcp_tool',
        matcher: { starts_with: 'get_', contains: '_all_', not_in: ['get_all_secrets'] },
      },
    ],
  ])('%s is compiled', (yaml, criterion) => {
    expect(compile(`{ allow: { or: [{ ${yaml} }] } }`)).toEqual({
      kind: 'made',
      value: { allow: { or: [criterion] } },
    });
  });

  const AT = 'spec.policy.deny.and[0]';

  test.each([
    ['emial: a', `${AT}.emial: is not a known criterion; did you mean "email"?`],
    ['mcpTool: a', `${AT}.mcpTool: is not a known criterion; did you mean "mcp_tool"?`],
    ['device: a', `${AT}.device: is not a known criterion`],
    [
      'claim: a',
      `${AT}.claim: is not a known criterion; write what it looks at behind a slash, as in claim/department`,
    ],
    ['claim/: a', `${AT}.claim/: must name a claim, such as claim/department`],
    ['claim/a//b: a', `${AT}.claim/a//b: must name a claim, such as claim/department`],
    ['accept: false', `${AT}.accept: must be true`],
    ['authenticated_user: {}', `${AT}.authenticated_user: must be true`],
    ['email: ""', `${AT}.email: must not be empty`],
    [
      'email: {}',
      `${AT}.email: must not be empty; can have is, starts_with, ends_with, contains, not, in, not_in`,
    ],
    ['email:', `${AT}.email: must be a text or an object of operators`],
    ['user: 7', `${AT}.user: must be a text (in quotes) or an object of operators`],
    [
      'claim/admin: true',
      `${AT}.claim/admin: must be a text (in quotes) or an object of operators`,
    ],
    [
      'mcp_tool: [a]',
      `${AT}.mcp_tool: must be a text or an object of operators, such as { in: [...] } for several texts`,
    ],
    [
      'mcp_tool: { startsWith: a }',
      `${AT}.mcp_tool.startsWith: is not a known operator; did you mean "starts_with"?`,
    ],
    ['mcp_tool: { nott: a }', `${AT}.mcp_tool.nott: is not a known operator; did you mean "not"?`],
    ['mcp_tool: { exclude: a }', `${AT}.mcp_tool.exclude: is not a known operator`],
    ['mcp_tool: { has: a }', `${AT}.mcp_tool.has: is not a known operator; did you mean "is"?`],
    ['mcp_tool: { is: [a] }', `${AT}.mcp_tool.is: must be a text`],
    ['mcp_tool: { contains: "" }', `${AT}.mcp_tool.contains: must not be empty`],
    ['mcp_tool: { in: a }', `${AT}.mcp_tool.in: must be a list of texts`],
    ['mcp_tool: { in: [] }', `${AT}.mcp_tool.in: must not be empty`],
    ['mcp_tool: { not_in: [a, 7] }', `${AT}.mcp_tool.not_in[1]: must be a text`],
    [
      'groups: { is: a, has: b }',
      `${AT}.groups: must not have both "is" and "has", which are the same`,
    ],
    [
      'groups: { not: a, exclude: b }',
      `${AT}.groups: must not have both "not" and "exclude", which are the same`,
    ],
    [
      'domain: "*.example.com"',
      `${AT}.domain: must not have a wildcard; use ends_with: .example.com`,
    ],
    ['domain: "@example.com"', `${AT}.domain: must be the part of an e-mail address after "@"`],
    ['http_method: post', `${AT}.http_method: must be in upper case: methods are case-sensitive`],
    ['http_path: { starts_with: admin }', `${AT}.http_path.starts_with: must begin with "/"`],
  ])('%s is invalid', (yaml, problem) => {
    expect(problemsOf(`{ deny: { and: [{ ${yaml} }] } }`)).toContain(problem);
  });

  const WRITTEN =
    'must be written as in a URL: without spaces, "?" or "#", and with other characters encoded';
  const DIGITS = 'must have two hexadecimal digits in upper case after "%"';
  const SEPARATOR = 'must not contain an encoded "/" or "\\"';
  const UNRESERVED = 'must not encode letters, digits, "-", ".", "_" and "~"';
  const DOTS = 'must not contain "." or ".." segments';
  const RESERVED = '/.gateway/ is reserved for the gateway itself';
  const REFUSED = 'is refused before any policy applies';
  const TOKEN = 'must be a method such as GET or M-SEARCH';

  // Attack: a deny whose matcher can never hold lets through what it was written to stop.
  test.each([
    ['http_path', 'is', '/a b', WRITTEN],
    ['http_path', 'is', '/caf\u00e9', WRITTEN],
    ['http_path', 'is', '/a?b=c', WRITTEN],
    ['http_path', 'is', '/a#b', WRITTEN],
    ['http_path', 'is', '/a//b', 'must not contain "//"'],
    ['http_path', 'is', '/a/../b', DOTS],
    ['http_path', 'is', '/%61dmin', UNRESERVED],
    ['http_path', 'is', '/caf%c3%a9', DIGITS],
    ['http_path', 'is', '/.gateway/sign_in', RESERVED],
    ['http_path', 'starts_with', 'admin', 'must begin with "/"'],
    ['http_path', 'starts_with', '/a?b', WRITTEN],
    ['http_path', 'starts_with', '/./a', DOTS],
    ['http_path', 'starts_with', '/.gateway', RESERVED],
    ['http_path', 'starts_with', '/.gateway/', RESERVED],
    ['http_path', 'ends_with', '.php?x', WRITTEN],
    ['http_path', 'ends_with', '/..', DOTS],
    ['http_path', 'ends_with', '%2', DIGITS],
    ['http_path', 'contains', 'a b', WRITTEN],
    ['http_path', 'contains', '\u00e9', WRITTEN],
    ['http_path', 'contains', '#', WRITTEN],
    ['http_path', 'contains', 'a\\b', WRITTEN],
    ['http_path', 'contains', '%c3', DIGITS],
    ['http_path', 'contains', '%zz', DIGITS],
    ['http_path', 'contains', '%2F', SEPARATOR],
    ['http_path', 'contains', '%2E', UNRESERVED],
    ['http_path', 'contains', '//', 'must not contain "//"'],
    ['http_path', 'contains', '/../', DOTS],
    ['http_method', 'is', 'TRACE', REFUSED],
    ['http_method', 'is', 'CONNECT', REFUSED],
    ['http_method', 'is', 'DELETE ', TOKEN],
    ['http_method', 'contains', 'GET, HEAD', TOKEN],
    ['http_method', 'starts_with', 'P0', TOKEN],
  ])('%s with %s %j is invalid', (kind, operator, value, message) => {
    const problems = problemsOf(
      JSON.stringify({ deny: { and: [{ [kind]: { [operator]: value } }] } }),
    );

    expect(problems).toEqual([`${AT}.${kind}.${operator}: ${message}`]);
  });

  test.each(['in', 'not_in'])(
    'paths and methods of %s are refused that never arrive',
    (operator) => {
      const deny = [
        { http_path: { [operator]: ['/a', '/a b'] } },
        { http_method: { [operator]: ['GET', 'TRACE'] } },
      ];

      expect(problemsOf(JSON.stringify({ deny: { or: deny } }))).toEqual([
        `spec.policy.deny.or[0].http_path.${operator}[1]: ${WRITTEN}`,
        `spec.policy.deny.or[1].http_method.${operator}[1]: ${REFUSED}`,
      ]);
    },
  );

  test.each([
    ['accept', 'must be a criterion such as `email: user@example.com`'],
    ['[]', 'must be a criterion such as `email: user@example.com`'],
    ['{}', 'must name a criterion'],
    ['{ accept: true, user: a }', 'must name one criterion; write others as separate items'],
  ])('%s is invalid', (yaml, message) => {
    expect(problemsOf(`{ deny: { and: [${yaml}] } }`)).toEqual([`${AT}: ${message}`]);
  });
});

describe('a policy', () => {
  test('is compiled with all of its groups', () => {
    const group = '[{ accept: true }]';
    const block = `{ and: ${group}, or: ${group}, not: ${group}, nor: ${group} }`;
    const accept = [{ kind: 'accept' }];
    const compiled = { and: accept, or: accept, not: accept, nor: accept };

    expect(compile(`{ allow: ${block}, deny: ${block} }`)).toEqual({
      kind: 'made',
      value: { allow: compiled, deny: compiled },
    });
  });

  test.each([
    ['{}', 'spec.policy: must not be empty; can have allow, deny'],
    ['[]', 'spec.policy: must be an object of allow, deny'],
    ['{ alow: {} }', 'spec.policy.alow: is not a known block; did you mean "allow"?'],
    ['{ allow: {} }', 'spec.policy.allow: must not be empty; can have and, or, not, nor'],
    ['{ allow: }', 'spec.policy.allow: must be an object of and, or, not, nor'],
    ['{ deny: { any: [] } }', 'spec.policy.deny.any: is not a known group; did you mean "and"?'],
    ['{ deny: { or: [] } }', 'spec.policy.deny.or: must not be empty'],
    ['{ deny: { or: { accept: true } } }', 'spec.policy.deny.or: must be a list of criteria'],
  ])('%s is invalid', (yaml, problem) => {
    expect(problemsOf(yaml)).toEqual([problem]);
  });

  test('has all its problems reported with their places', () => {
    const yaml = `{
      alow: {},
      allow: { or: [{ emial: a }, { accept: true }, { mcp_tool: { in: [1, 2] } }] },
      deny: { nor: [] },
    }`;

    expect(problemsOf(yaml).map((problem) => problem.split(': ')[0])).toEqual([
      'spec.policy.alow',
      'spec.policy.allow.or[0].emial',
      'spec.policy.allow.or[2].mcp_tool.in[0]',
      'spec.policy.allow.or[2].mcp_tool.in[1]',
      'spec.policy.deny.nor',
    ]);
  });

  // Attack: ignoring a deny clause with a misspelt name would let through what it names.
  test('is invalid as a whole if one clause of a deny is unknown', () => {
    const yaml = '{ allow: { or: [{ accept: true }] }, deny: { or: [{ mcp_tol: rm }] } }';

    expect(compile(yaml).kind).toBe('invalid');
  });

  // Attack: a Route of a megabyte of criteria stalled all others with ten requests a second.
  test('has at most 1,000 criteria in all of its groups', () => {
    const criteria = (count: number): string => `[${'{ user: a },'.repeat(count)}]`;
    const policy = (count: number): string =>
      `{ allow: { and: ${criteria(1)}, or: ${criteria(998)} }, deny: { nor: ${criteria(count)} } }`;

    expect(problemsOf(policy(1))).toEqual([]);
    expect(problemsOf(policy(2))).toEqual(['spec.policy: has more than 1000 criteria']);
  });
});
