import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { validateResource } from '../../../controller/validate/validate-resource.ts';
import { compileOnce } from '../../support/compile-once.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/kubernetes.md');

test('the settings and the Route for workloads in docs/kubernetes.md are accepted', () => {
  const [, section = ''] = readFileSync(DOCUMENT, 'utf8').split('## Workloads of the cluster\n');
  const [, manifests = ''] = /```yaml\n([^`]*)```/.exec(section) ?? [];
  const resources = parseAllDocuments(manifests).flatMap((document) => {
    const validation = validateResource(document.toJS(), 'docs/kubernetes.md');
    return validation.kind === 'valid' ? [validation.resource] : [];
  });
  const settings = resources.find((resource) => resource.kind === 'GatewaySettings');
  const routes = resources.filter((resource) => resource.kind === 'Route');
  const { problems, acceptedRoutes } = compileOnce({ routes, settings }, { services: 'assumed' });

  expect(problems).toEqual([]);
  expect([...acceptedRoutes]).toEqual(['finance/invoices']);
});
