/** Licences under which what we ship may be passed on with the notices that the image holds. */
const ACCEPTED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

/**
 * Whether a package with this SPDX expression may be in the image. Of alternatives one is enough. What is not
 * understood, such as an exception, is not accepted.
 */
export function isAcceptedLicense(expression: string): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1');
  return plain
    .split(' OR ')
    .some((alternative) => alternative.split(' AND ').every((license) => ACCEPTED.has(license)));
}
