const IPV4_BITS = 32;
const IPV6_BITS = 128;
const MAX_BYTE = 255;

/** Whether a text is an address range such as `10.0.0.0/8` or `fd00::/8` (RFC 4632, RFC 4291). */
export function isCidr(text: string): boolean {
  const [, address = '', digits = ''] = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(text) ?? [];
  if (address.includes(':')) {
    return Number(digits) <= IPV6_BITS && URL.parse(`http://[${address}]`) !== null;
  }
  const bytes = address.split('.');
  const isByte = (byte: string): boolean =>
    /^(?:0|[1-9]\d{0,2})$/.test(byte) && Number(byte) <= MAX_BYTE;
  return bytes.length === 4 && bytes.every(isByte) && digits !== '' && Number(digits) <= IPV4_BITS;
}
