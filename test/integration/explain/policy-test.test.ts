import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { runInProcess } from '../../support/command-line.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';

const EXAMPLES = join(import.meta.dirname, '../../../crds/examples');

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await TemporaryDirectory.create();
});
afterEach(() => directory[Symbol.asyncDispose]());

function casesOf(...cases: readonly string[]): string {
  return [
    `manifests: [${EXAMPLES}]`,
    'route: finance/invoices',
    'users:',
    '  bob: { email: bob@example.com, groups: [operators] }',
    '  eve: { user: e1, email: eve@example.com }',
    'cases:',
    ...cases.map((each) => `  - { ${each} }`),
    '',
  ].join('\n');
}

describe('gatehouse policy test', () => {
  test('exits with 0 if all cases of all files pass', async () => {
    const one = casesOf(
      'name: operators delete, user: bob, request: { tool: delete_invoice }, expect: allow',
      'name: nobody is refused, expect: deny',
    );
    const other = casesOf(
      'name: "others do # not", user: eve, request: { tool: delete_invoice }, expect: deny, reasons: [groups-ok]',
      'name: a page, user: eve, request: { route: tools/wiki }, expect: allow',
    );
    const files = [await directory.write('a.yaml', one), await directory.write('b.yaml', other)];

    const { code, stdout, stderr } = await runInProcess(['policy', 'test', ...files]);

    expect(stderr).toBe('');
    expect(stdout).toBe(`TAP version 14
1..4
ok 1 - operators delete
ok 2 - nobody is refused
ok 3 - others do \\# not
ok 4 - a page
# 4 passed, 0 failed
`);
    expect(code).toBe(0);
  });

  test('shows the place and the explanation of a case that fails, and exits with 1', async () => {
    const file = await directory.write(
      'a.yaml',
      casesOf(
        'name: passes, user: bob, expect: allow',
        'name: fails, user: eve, request: { tool: delete_invoice }, expect: allow',
        'name: lacks a reason, user: bob, expect: allow, reasons: [domain-ok, groups-ok]',
        'name: is nowhere, user: bob, request: { route: a/b }, expect: deny',
      ),
    );

    const { code, stdout } = await runInProcess(['policy', 'test', file]);

    const lines = stdout.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'ok 1 - passes',
        'not ok 2 - fails',
        `#   ${file}:8`,
        '#   expected allow, and the decision is deny',
        '#   deny: mcp-tool-unauthorized, groups-ok (status 200, the policy denies this tool)',
        'not ok 3 - lacks a reason',
        '#   expected the reasons groups-ok, and the decision has domain-ok',
        'not ok 4 - is nowhere',
        expect.stringMatching(/^# {3}no Route a\/b serves; there are /),
        '# 1 passed, 3 failed',
      ]),
    );
    expect(code).toBe(1);
  });

  test('takes a route by its name alone, in the namespace default', async () => {
    const route = { name: 'open', from: 'https://open.example.com', to: 'http://open' };
    const plain = { routes: [{ ...route, allow_public_unauthenticated_access: true }] };
    await directory.write('gatehouse.yaml', JSON.stringify(plain));
    const each = { name: 'is open', expect: 'allow' };
    const cases = [each, { ...each, request: { route: 'open' } }];
    const text = JSON.stringify({ manifests: ['gatehouse.yaml'], route: 'open', cases });
    const file = await directory.write('cases.yaml', text);

    const { code, stdout } = await runInProcess(['policy', 'test', file]);

    expect(stdout).toContain('# 2 passed, 0 failed');
    expect(code).toBe(0);
  });

  test('takes manifests relative to the file', async () => {
    const route = { from: 'https://open.example.com', to: 'http://open' };
    const plain = { routes: [{ ...route, allow_public_unauthenticated_access: true }] };
    await directory.write('gatehouse.yaml', JSON.stringify(plain));
    const cases = { manifests: ['gatehouse.yaml'], cases: [{ name: 'is open', expect: 'allow' }] };
    const file = await directory.write('cases.yaml', JSON.stringify(cases));

    expect(await runInProcess(['policy', 'test', file])).toMatchObject({ code: 0 });
  });

  test.each([
    { text: 'cases: [', problem: /a\.yaml:1 / },
    { text: 'a: 1\n---\nb: 2', problem: /a\.yaml: must have one YAML document/ },
    { text: casesOf('name: a, expects: allow'), problem: /a\.yaml:7 cases\[0\]\.expect: is requi/ },
    {
      text: casesOf('name: a, expects: allow'),
      problem: /a\.yaml:7 cases\[0\]\.expects: is not a known field; did you mean "expect"\?/,
    },
    {
      text: casesOf('name: a, expect: alow'),
      problem: /a\.yaml:7 cases\[0\]\.expect: must be one of allow, deny/,
    },
    {
      text: casesOf('name: a, user: nobody, expect: deny'),
      problem: /a\.yaml:7 cases\[0\]\.user: is not one of users/,
    },
    {
      text: casesOf('name: a, request: { time: noon }, expect: deny'),
      problem: /a\.yaml:7 cases\[0\]\.request\.time: must be a time with a time zone/,
    },
    {
      text: casesOf('name: a, expect: deny').replace('user: e1, email: eve@example.com', ''),
      problem: /a\.yaml:5 users\.eve\.user: is required/,
    },
    {
      text: casesOf('name: a, expect: deny').replace(EXAMPLES, 'nowhere'),
      problem: /cannot read .*nowhere: there is no such file or directory/,
    },
  ])('prints $problem for a file that is wrong, and exits with 1', async ({ text, problem }) => {
    const file = await directory.write('a.yaml', text);
    const { code, stdout, stderr } = await runInProcess(['policy', 'test', file]);

    expect(stderr).toMatch(problem);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });

  test('exits with 2 without a file', async () => {
    const { code, stderr } = await runInProcess(['policy', 'test']);

    expect(stderr).toContain('gatehouse: FILE... is required');
    expect(code).toBe(2);
  });
});
