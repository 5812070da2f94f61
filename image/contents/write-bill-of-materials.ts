import type { Component } from './component.ts';

/**
 * Writes what the image holds as a CycloneDX document. It has no time and no random name, so that the same
 * image has the same document.
 */
export function writeBillOfMaterials(
  program: Readonly<Record<'name' | 'version' | 'description', string>>,
  components: readonly Component[],
): string {
  const purl = `pkg:npm/${program.name}@${program.version}`;
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': purl, ...program } },
    components: components.map(describe),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function describe(component: Component): object {
  const { kind, name, version, license, purl, cpe, sha512 } = component;
  return {
    type: kind === 'program' ? 'application' : 'library',
    'bom-ref': purl,
    ...{ name, version, purl },
    ...(cpe !== undefined && { cpe }),
    ...(sha512 !== undefined && { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    licenses: [{ expression: license }],
  };
}
