import { expect, test } from '@jest/globals';

import { CertificateTable } from '../../../../proxy/configuration/certificate-table.ts';
import { changesBetween } from '../../../../proxy/configuration/snapshot-changes.ts';
import type { CompiledResource } from '../../../../shared/snapshot/snapshot.ts';
import {
  aCompiledCertificate,
  aCompiledRoute,
  aHeldHost,
  aSnapshot,
} from '../../../support/compiled-resources.ts';

function aRouteAt(host: string, certificates: readonly string[], name: string): CompiledResource {
  return aCompiledRoute({ name, host, certificates });
}

function tableOf(...values: readonly CompiledResource[]): CertificateTable {
  return CertificateTable.EMPTY.with(changesBetween(undefined, aSnapshot(...values)), 'a/default');
}

function namesFor(table: CertificateTable, serverName?: string): readonly string[] {
  return table.find(serverName).map(({ name }) => name);
}

const CERTIFICATES = [
  aCompiledCertificate('a/app', ['app.example.com']),
  aCompiledCertificate('a/wild', ['*.example.com']),
  aCompiledCertificate('a/deep', ['*.b.example.com']),
  aCompiledCertificate('a/default', ['elsewhere.example.net']),
];

const TABLE = tableOf(
  ...CERTIFICATES,
  aRouteAt('app.example.com', ['a/app'], 'a/app'),
  aRouteAt('*.example.com', ['a/wild'], 'a/wild'),
  aRouteAt('*.b.example.com', ['a/deep'], 'a/deep'),
);

test.each([
  ['app.example.com', ['a/app']],
  ['other.example.com', ['a/wild']],
  ['x.b.example.com', ['a/deep']],
  // A wildcard route serves it, and a wildcard certificate stands for one label only.
  ['y.x.example.com', ['a/default']],
  ['example.com', ['a/default']],
  ['unknown.example.org', ['a/default']],
  ['', ['a/default']],
  [undefined, ['a/default']],
])('chooses for the name %s the certificate %j', (serverName, names) => {
  expect(namesFor(TABLE, serverName)).toEqual(names);
});

test('falls back to a wildcard while the certificate of a host is missing', () => {
  const table = tableOf(
    ...CERTIFICATES.slice(1),
    aRouteAt('app.example.com', ['a/app'], 'a/app'),
    aRouteAt('*.example.com', ['a/wild'], 'a/wild'),
  );
  expect(namesFor(table, 'app.example.com')).toEqual(['a/wild']);
});

test('takes no certificate of a wildcard for the host of another namespace', () => {
  const table = tableOf(
    ...CERTIFICATES,
    aRouteAt('*.example.com', ['a/wild'], 'a/wild'),
    aCompiledRoute({ name: 'b/files', host: 'files.example.com' }),
    aCompiledRoute({ name: 'b/mail', host: 'mail.example.com', port: 8443 }),
    aCompiledRoute({ name: 'a/own', host: 'own.example.com' }),
  );
  expect(namesFor(table, 'files.example.com')).toEqual(['a/default']);
  expect(namesFor(table, 'mail.example.com')).toEqual(['a/default']);
  expect(namesFor(table, 'own.example.com')).toEqual(['a/wild']);
  expect(namesFor(table, 'other.example.com')).toEqual(['a/wild']);
});

test('takes no certificate of a wildcard for a host that is held', () => {
  const wildcards = [
    ...CERTIFICATES,
    aRouteAt('*.example.com', ['a/wild'], 'a/wild'),
    aRouteAt('*.b.example.com', ['a/deep'], 'a/deep'),
  ];
  const before = aSnapshot(...wildcards);
  const after = aSnapshot(
    ...wildcards,
    aHeldHost('held.example.com'),
    aHeldHost('*.b.example.com'),
  );
  const free = CertificateTable.EMPTY.with(changesBetween(undefined, before), 'a/default');
  const table = free.with(changesBetween(before, after), 'a/default');
  expect(namesFor(free, 'held.example.com')).toEqual(['a/wild']);
  expect(namesFor(table, 'held.example.com')).toEqual(['a/default']);
  expect(namesFor(table, 'other.example.com')).toEqual(['a/wild']);
});

test('takes the certificate of a wildcard on a port that is not held', () => {
  const table = tableOf(
    ...CERTIFICATES,
    aCompiledCertificate('b/deep', ['*.b.example.com']),
    aRouteAt('*.example.com', ['a/wild'], 'a/wild'),
    aCompiledRoute({ name: 'b/deep', host: '*.b.example.com', certificates: ['b/deep'] }),
    aHeldHost('h.b.example.com', [80]),
  );
  expect(namesFor(table, 'h.b.example.com')).toEqual(['b/deep']);
});

test('takes of a wildcard that namespaces share the certificate of the namespace that has the host', () => {
  const evil = { ...aCompiledCertificate('a/evil', ['*.example.com']), notAfter: 9e9 };
  const table = tableOf(
    ...CERTIFICATES,
    evil,
    aCompiledCertificate('b/wild', ['*.example.com']),
    aRouteAt('*.example.com', ['a/evil'], 'a/evil'),
    aRouteAt('*.example.com', ['b/wild'], 'b/wild'),
    aRouteAt('*.example.com', [], 'c/wild'),
    aRouteAt('b.example.com', [], 'b/own'),
    aRouteAt('c.example.com', [], 'c/own'),
  );
  expect(namesFor(table, 'b.example.com')).toEqual(['b/wild']);
  expect(namesFor(table, 'c.example.com')).toEqual(['a/default']);
  expect(namesFor(table, 'free.example.com')).toEqual(['a/evil']);
});

test('leaves a host to a wildcard if all routes of the host are without TLS', () => {
  const table = tableOf(
    ...CERTIFICATES,
    aRouteAt('*.example.com', ['a/wild'], 'a/wild'),
    aCompiledRoute({ name: 'b/plain', host: 'plain.example.com', scheme: 'http', port: 80 }),
  );
  expect(namesFor(table, 'plain.example.com')).toEqual(['a/wild']);
});

test('finds nothing without a default certificate', () => {
  const table = CertificateTable.EMPTY.with(
    changesBetween(undefined, aSnapshot(...CERTIFICATES)),
    undefined,
  );
  expect(namesFor(table, 'app.example.com')).toEqual([]);
  expect(namesFor(table)).toEqual([]);
});

test('chooses of several certificates with one type of key that which expires last', () => {
  const older = { ...aCompiledCertificate('a/older', ['app.example.com']), notAfter: 1 };
  const newer = { ...aCompiledCertificate('a/newer', ['app.example.com']), notAfter: 2 };
  const table = tableOf(older, newer, aRouteAt('app.example.com', ['a/newer', 'a/older'], 'a/r'));
  expect(namesFor(table, 'app.example.com')).toEqual(['a/newer']);
});

test('never chooses a certificate that does not cover the name, whoever names it for the host', () => {
  const table = tableOf(
    ...CERTIFICATES,
    aRouteAt('app.example.com', ['a/default', 'a/deep'], 'b/thief'),
  );
  expect(namesFor(table, 'app.example.com')).toEqual(['a/default']);
});

test('follows the changes of routes and certificates, and leaves the table before as it was', () => {
  const before = aSnapshot(...CERTIFICATES, aRouteAt('app.example.com', ['a/app'], 'a/app'));
  const renewed = aCompiledCertificate('a/app', ['app.example.com']);
  const after = aSnapshot(
    renewed,
    ...CERTIFICATES.slice(1),
    aRouteAt('new.example.com', ['a/wild'], 'a/app'),
    aRouteAt('app.example.com', ['a/app'], 'a/second'),
  );
  const first = CertificateTable.EMPTY.with(changesBetween(undefined, before), undefined);
  const second = first.with(changesBetween(before, after), undefined);
  expect(second.find('app.example.com')).toEqual([renewed]);
  expect(namesFor(second, 'new.example.com')).toEqual(['a/wild']);
  expect(first.find('app.example.com')).toEqual([CERTIFICATES[0]]);
  expect(second.with([], undefined)).toBe(second);
});

test('takes certificates away with the last route of a host', () => {
  const before = aSnapshot(...CERTIFICATES, aRouteAt('app.example.com', ['a/app'], 'a/app'));
  const after = aSnapshot(...CERTIFICATES);
  const table = CertificateTable.EMPTY.with(changesBetween(undefined, before), undefined);
  expect(namesFor(table.with(changesBetween(before, after), undefined), 'app.example.com')).toEqual(
    [],
  );
});
