import { expect, test } from '@jest/globals';

import { readCandidates } from '../../../../controller/files/candidates.ts';
import { contentsOf } from './contents-of.ts';

test('a file with an unreadable document is not used, and the problems of its other documents are reported', () => {
  const text = `
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: { name: files }
spec: { from: nowhere, to: http://files.internal }
---
a: 1
a: 2
`;
  const { resources, brokenFiles } = readCandidates(contentsOf({ 'routes.yaml': text }), []);
  expect(resources).toEqual([]);
  expect(brokenFiles.get('routes.yaml')).toMatchObject([
    { document: 2, reason: 'InvalidManifest' },
    { document: 1, resource: 'Route default/files', path: 'spec.from', reason: 'InvalidSpec' },
  ]);
});
