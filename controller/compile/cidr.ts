/** Whether a text is an address range such as `10.0.0.0/8` or `fd00::/8` (RFC 4632, RFC 4291). */
export function isCidr(text: string): boolean {
  const [, address = '', digits = ''] = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(text) ?? [];
  if (address.includes(':')) {
    return Number(digits) <= 128 && URL.parse(`http://[${address}]`) !== null;
  }
  const parts = address.split('.');
  const isByte = (part: string): boolean =>
    /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255;
  return parts.length === 4 && parts.every(isByte) && digits !== '' && Number(digits) <= 32;
}
