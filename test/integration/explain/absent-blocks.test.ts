import { expect, test } from '@jest/globals';

import { runInProcess } from '../../support/command-line.ts';
import { TemporaryDirectory } from '../../support/temporary-directory.ts';

test('gatehouse explain says which block a policy lacks', async () => {
  await using directory = await TemporaryDirectory.create();
  const route = {
    ...{ name: 'app', from: 'https://app.example.com', to: 'http://app' },
    policy: { allow: { or: [{ cors_preflight: true }, { user: 'alice' }] } },
  };
  const idp = { issuer: 'https://idp.example.com', client_id: 'gatehouse' };
  const plain = { identity_providers: { idp }, routes: [route] };
  const file = await directory.write('gatehouse.yaml', JSON.stringify(plain));
  const fields = ['Origin: https://a.example', 'Access-Control-Request-Method: PUT'];
  const preflight = ['--method', 'OPTIONS', ...fields.flatMap((field) => ['--header', field])];

  const user = await runInProcess(['explain', '-f', file, '--user', 'alice']);
  expect(user.stdout).toContain('\n  deny: none\n');

  const anonymous = await runInProcess(['explain', '-f', file, ...preflight]);
  expect(anonymous.stdout).toContain('\n  deny: none that counts without a user\n');
});
