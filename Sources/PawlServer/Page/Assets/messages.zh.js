// Chinese texts for the service's English ones: decisions by the form of their sentence, failures by their code.

import { causeOf } from "./queue.js";

/** @typedef {import("./queue.js").Failure} Failure */
/** @typedef {import("./queue.js").LocalizableMessage} LocalizableMessage */

/** {0} and so on are the values in the order of the English sentence. @type {Record<string, string>} */
const forms = {
  "{}: continuing with one connection": "{0}：改用一个连接继续",
  "{}: started over from 0": "{0}：从头重新开始",
  "{}: continuing without ranges": "{0}：不再分段，继续下载",
  "{}, but only a part was requested": "{0}，但只需要其中一部分",
  "the content changed: {}: started over from 0": "内容已改变（{0}）：从头重新开始",
  "left out {}: {}": "弃用 {0}：{1}",
  "left out a source: {}": "弃用一个来源：{0}",
  "it has other content: {}": "它的内容不同：{0}",
  "the server does not respond to requests with Range: started over without ranges": "服务器从不应答带 Range 的请求：不带 Range 从头重新开始",
  "the server does not respond to requests with Range: continuing without ranges": "服务器从不应答带 Range 的请求：不再分段，继续下载",
  "no response to a request with Range: retrying without it": "带 Range 的请求没有应答：改为不带 Range 请求",
  "the redirect's target has expired: requesting the original URL again": "重定向的目标已过期：重新请求最初的地址",
  "the bytes on disk cannot be compared with the server's: starting over": "磁盘上没有可与服务器比对的字节：从头开始",
  "the URL has expired: continuing with {}": "地址已过期：改用 {0} 继续",
  "the bytes on disk are of another range: starting over with the requested one": "之前要的是另一部分：按现在要的部分重新开始",
  "it responded with a page ({})": "服务器返回了一个网页（{0}）",
  "its size differs, and it has neither ETag nor Last-Modified": "服务器返回了另一种大小，并且没有标签和日期",
  "it responded with a page of another size ({})": "服务器返回了大小不同的网页（{0}）",
  "it responded with {} instead of {}": "服务器返回了 {0}，而此前是 {1}",
  "its Content-Encoding was {} and is {} now": "Content-Encoding 此前是 {0}，现在是 {1}",
  "the server sends only the whole file: comparing it with the bytes on disk": "服务器只发送整个文件：正与已有内容比较",
  "the server sent the whole file again: started over from 0": "服务器重新发送了全部内容：已从 0 重新开始",
  "the bytes on disk have Content-Encoding {} and cannot be requested in ranges: starting over": "已有内容经过编码（{0}），无法分段请求：重新开始",
  "{} sends a different ETag with each response: comparing bytes instead": "{0} 每次响应的标签都不同：改为比较内容",
  "compared {} with {}: same content": "与 {1} 比对了 {0}：内容相同",
  "the server ignored Range and sent the whole file": "服务器忽略了 Range，发来了整个文件",
  "the server responded to a single range with multipart/byteranges": "服务器以 multipart/byteranges 应答单个分段",
  "the server sent a range with Content-Encoding {}": "服务器发来的分段带有 Content-Encoding {0}",
  "status 206 without Content-Range": "状态 206 没有 Content-Range",
  "Content-Range is malformed: {}": "Content-Range 格式错误：{0}",
  "status 206 with the Content-Range of a 416": "状态 206 带有 416 的 Content-Range",
  "the server sent bytes from {} instead of {}": "服务器从 {0} 而不是 {1} 处发送",
  "the server sent {} instead of the last {} bytes": "服务器发送了 {0}，而不是最后 {1} 字节",
  "the server sent {} of {} bytes, more than requested": "服务器发送了 {0}（共 {1} 字节），超出所请求的范围",
  "Content-Length {} does not fit Content-Range {}": "Content-Length {0} 与 Content-Range {1} 不符",
  "the server sent a part although the whole file was requested": "请求的是整个文件，服务器却只发来一部分",
  "the server refuses every range (416)": "服务器拒绝任何分段（416）",
  "the server refuses bytes from {} of {} (416)": "服务器拒绝从 {0} 起的字节，共 {1}（416）",
  "the server sent {}, which does not continue the file": "服务器发送了 {0}，与文件的续点不符",
  "it reports {} bytes, more than the longest supported file": "它声称有 {0} 字节，超出任何文件所能有的大小",
  "it does not report the length, which a request for the last bytes needs": "它没有给出长度，无法从末尾计算字节",
  "it reports contradictory lengths": "它给出的长度互相矛盾",
  "it had {} bytes and has {} now": "原为 {0} 字节，现为 {1} 字节",
  "it has {} bytes, fewer than the {} on disk": "它只有 {0} 字节，少于磁盘上的 {1} 字节",
  "it has {} bytes, fewer than the {} that were expected": "它只有 {0} 字节，少于预期的 {1} 字节",
  "it has {} bytes, fewer than are on disk": "它只有 {0} 字节，少于磁盘上已有的",
  "it has {} bytes, which does not match the bytes on disk": "它有 {0} 字节，与磁盘上的不符",
  "it has {} bytes instead of the expected {}": "它有 {0} 字节，而不是应有的 {1} 字节",
  "its ETag was {} and is {} now": "其标签原为 {0}，现为 {1}",
  "its Last-Modified has changed": "其 Last-Modified 已改变",
  "the bytes on disk differ from the server's": "磁盘上的字节与服务器的不同",
  "bytes differ where two connections meet": "两个连接相接处的字节不一致",
  "it ends before the end of the bytes on disk": "它在磁盘已有字节的末尾之前就结束",
  "nothing can be compared without ranges": "不分段就无从比对",
};

/** By the codes in Documentation/JSON.md. @type {Record<number, string>} */
const failures = {
  2: "超时", 3: "文件不存在", 5: "速度过慢", 6: "网络错误", 7: "尚未完成", 8: "无法续传", 9: "磁盘空间不足", 11: "同一文件已在下载",
  13: "文件已存在", 14: "无法改名", 15: "无法打开文件", 16: "无法创建文件", 17: "读写错误", 18: "无法创建文件夹", 19: "无法解析主机名",
  22: "应答有误", 23: "重定向过多", 24: "需要授权", 28: "选项或地址无效", 29: "服务器过载", 32: "校验和不一致", 33: "证书不受信任",
  34: "由更新的版本写成", 35: "内容过大",
};

/** @param {LocalizableMessage} message @returns {string} */
export function localized({ form, values = [], message }) {
  const found = form === undefined ? undefined : forms[form];
  if (found !== undefined) return found.replace(/\{(\d)\}/g, (_, index) => told(values[index]));
  // A form with a single value and no text.
  return form === "{}" ? told(values[0]) : message;
}

/** @param {string | LocalizableMessage | Failure} value */
function told(value) {
  if (typeof value === "string") return value;
  return "code" in value ? failure(value) : localized(value);
}

/** The text of the code; the cause keeps the wording of the service, the system or the server. @param {Failure} failure */
export function failure({ code, message, place, why }) {
  const found = code === undefined ? undefined : failures[code];
  if (found === undefined) return message;
  const cause = causeOf({ message, why });
  const said = forms[cause] ?? cause.replace(/^the server responded with (\d+)(?:;.*)?$/, "服务器应答 $1");
  return `${found}${place ? `：${place}` : ""}（${said}）`;
}
