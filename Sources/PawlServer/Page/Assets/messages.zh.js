// Chinese texts for the service's English ones: messages by their identifiers, failures by their codes.

import { causeOf } from "./queue.js";

/** @typedef {import("./queue.js").Failure} Failure */
/** @typedef {import("./queue.js").LocalizableMessage} LocalizableMessage */

/** By the identifiers of `LocalizableMessage`; {0} and so on are the values in the order of the English sentence. @type {Record<string, string>} */
const messages = {
  "digest-changed": "其 {0} 原为 {1}，现为 {2}",
  "digests-contradict": "{0} 与 {1} 相互矛盾",
  "verified-weakly": "仅以 {0} 校验：能发现损坏，不能防伪造",
  "mismatch-other-source": "{0}：改从 {1} 重新获取",
  "corrupt-starting-over": "磁盘上的字节与应有的摘要不符：从头开始",
  "attributes-not-stored": "{0}",
  "continuing-with-one-connection": "{0}：改用一个连接继续",
  "started-over": "{0}：从头重新开始",
  "continuing-without-ranges": "{0}：不再分段，继续下载",
  "part-was-requested": "{0}，但只需要其中一部分",
  "content-changed-started-over": "内容已改变（{0}）：从头重新开始",
  "left-out-source": "弃用 {0}：{1}",
  "left-out-failed-source": "弃用一个来源：{0}",
  "left-out-bad-pieces": "弃用 {0}：它发来了 {1} 个错误的分块",
  "piece-bad-from": "位于 {0} 的分块（来自 {1}）有误，正在重新获取",
  "breaks-within-comparison": "连接在发送完要比较的字节及其后的字节之前中断：{0}",
  "verified-piece-differs": "服务器发送的字节与已验证的分块不同，且没有其他来源可以发送正确的字节",
  "existing-file-wrong": "文件 {0} 与其摘要不符：正在重新获取错误的部分",
  "piece-bad-on-disk": "磁盘上位于 {0} 的分块有误，正在重新获取",
  "other-content": "它的内容不同：{0}",
  "no-response-to-range-started-over": "服务器从不应答带 Range 的请求：不带 Range 从头重新开始",
  "no-response-to-range-continuing": "服务器从不应答带 Range 的请求：不再分段，继续下载",
  "no-response-to-range-retrying": "带 Range 的请求没有应答：改为不带 Range 请求",
  "redirect-target-expired": "重定向的目标已过期：重新请求最初的地址",
  "cannot-compare-starting-over": "磁盘上没有可与服务器比对的字节：从头开始",
  "url-expired-continuing": "地址已过期：改用 {0} 继续",
  "other-range-starting-over": "之前要的是另一部分：按现在要的部分重新开始",
  "page-response": "服务器返回了一个网页（{0}）",
  "size-differs-no-validators": "服务器返回了另一种大小，并且没有标签和日期",
  "page-of-other-size": "服务器返回了大小不同的网页（{0}）",
  "page-instead-of-type": "服务器返回了 {0}，而此前是 {1}",
  "content-encoding-changed": "Content-Encoding 此前是 {0}，现在是 {1}",
  "whole-file-comparing": "服务器只发送整个文件：正与已有内容比较",
  "whole-file-again-started-over": "服务器重新发送了全部内容：已从 0 重新开始",
  "encoded-starting-over": "已有内容经过编码（{0}），无法分段请求：重新开始",
  "etag-varies-comparing": "{0} 每次响应的标签都不同：改为比较内容",
  "compared-same-content": "与 {1} 比对了 {0}：内容相同",
  "range-ignored": "服务器忽略了 Range，发来了整个文件",
  "range-multipart": "服务器以 multipart/byteranges 应答单个分段",
  "range-encoded": "服务器发来的分段带有 Content-Encoding {0}",
  "content-range-missing": "状态 206 没有 Content-Range",
  "content-range-malformed": "Content-Range 格式错误：{0}",
  "content-range-unsatisfied": "状态 206 带有 416 的 Content-Range",
  "range-wrong-start": "服务器从 {0} 而不是 {1} 处发送",
  "range-wrong-suffix": "服务器发送了 {0}，而不是最后 {1} 字节",
  "range-exceeded": "服务器发送了 {0}（共 {1} 字节），超出所请求的范围",
  "content-length-contradicts-range": "Content-Length {0} 与 Content-Range {1} 不符",
  "range-not-requested": "请求的是整个文件，服务器却只发来一部分",
  "ranges-refused": "服务器拒绝任何分段（416）",
  "range-refused": "服务器拒绝从 {0} 起的字节，共 {1}（416）",
  "range-does-not-continue": "服务器发送了 {0}，与文件的续点不符",
  "size-unsupported": "它声称有 {0} 字节，超出任何文件所能有的大小",
  "length-missing": "它没有给出长度，无法从末尾计算字节",
  "lengths-contradict": "它给出的长度互相矛盾",
  "size-changed": "原为 {0} 字节，现为 {1} 字节",
  "changed-during-transfer": "文件在传输期间发生了变化：{0}",
  "offset-refused": "服务器拒绝从该偏移处开始：{0}",
  "continued-other-range": "之前请求的是它的另一部分",
  "repair-content-encoded": "服务器以 Content-Encoding {0} 发送，这不是文件的内容",
  "repair-content-page": "服务器发来另一长度的网页（{0}）",
  "repair-length-differs": "服务器有 {0} 字节，而文件有 {1} 字节，且没有 ETag 和 Last-Modified",
  "repair-content-differs": "服务器有 {0} 字节，而文件有 {1} 字节，且文件的大部分内容与之不同",
  "size-below-offset": "它只有 {0} 字节，少于磁盘上的 {1} 字节",
  "part-beyond-end": "它只有 {0} 字节，到不了所要的部分",
  "size-below-expected": "它只有 {0} 字节，少于预期的 {1} 字节",
  "size-below-bytes-on-disk": "它只有 {0} 字节，少于磁盘上已有的",
  "size-does-not-match": "它有 {0} 字节，与磁盘上的不符",
  "size-unexpected": "它有 {0} 字节，而不是应有的 {1} 字节",
  "etag-changed": "其标签原为 {0}，现为 {1}",
  "last-modified-changed": "其 Last-Modified 已改变",
  "bytes-differ": "磁盘上的字节与服务器的不同",
  "bytes-differ-between-connections": "两个连接相接处的字节不一致",
  "ends-before-bytes-on-disk": "它在磁盘已有字节的末尾之前就结束",
  "cannot-compare-without-ranges": "不分段就无从比对",
  "part-without-total": "它没有给出总大小,而且在其片段结束之后还有更多字节",
  "range-ends-early": "服务器在 {0} 之后没有发送任何字节",
  "part-with-status-200": "它以状态 200 发来了 {1} 字节中的 {0}",
  "range-too-short": "服务器在用于比较的字节之后只发来 {0} 字节",
  "range-too-short-to-compare": "服务器发送的字节少于要比对的字节",
  "existing-range-refused": "服务器拒绝它已有的字节（416）",
  "file-above-limit": "文件有 {0} 字节，而只请求了 {1} 字节",
  "file-above-size": "文件有 {0} 字节，而服务器的只有 {1} 字节",
  "whole-file-sent": "服务器发送了整个文件",
  "program-ended-while-starting": "启动此下载时，程序已 {0} 次意外终止",
  "no-network": "没有网络",
  "http-status": "服务器应答 {0}",
  "digest-mismatch": "{0} 应为 {1}（{2}），实为 {3}",
  "partial-has-other-size": "未完成的文件有 {0} 字节，而内容有 {1} 字节",
  "piece-mismatch": "位于 {1} 的分块的 {0} 为 {2}，应为 {3}，且没有其他来源可用",
  "unexpected-content": "服务器的内容与预期不同：{0}",
  "content-not-proven": "无法证明内容相同：{0}",
  "silent-no-data": "{0} 秒内没有收到数据",
  "silent-no-response": "{0} 秒内没有响应",
  "too-slow": "{1} 秒内每秒不超过 {0} 字节",
  "redirect-not-encrypted": "它从 https 重定向到未加密的 {0}",
  "too-many-redirects": "超过 {0} 次重定向",
  "file-already-downloading": "此文件正在下载",
  "file-name-exists": "已有同名文件",
  "fault-name-resolution": "域名服务器没有响应",
  "fault-name-missing": "该主机名不存在",
  "fault-unreachable": "网络不可达",
  "fault-connection-refused": "服务器拒绝连接",
  "fault-connect-timeout": "连接超时",
  "fault-connection-lost": "连接中断",
  "fault-truncated": "响应不完整",
  "fault-tls": "TLS 错误：{0}",
  "fault-public-key": "服务器的公钥与指定的不符",
  "fault-proxy": "代理错误：{0}",
  "fault-not-found": "服务器上没有此文件",
  "fault-denied": "服务器拒绝访问",
  "fault-server-refused": "服务器拒绝请求：{0}",
  "fault-malformed": "响应格式错误：{0}",
  "fault-offset-refused": "服务器不能从中间开始发送文件",
  "fault-content-changed": "文件在传输期间被更改",
  "fault-private-address": "主机名指向不允许访问的地址",
  "s3-no-bucket": "{0} 没有存储桶 {1}",
  "s3-no-object": "存储桶中没有此键的对象",
  "s3-unknown-key": "{0} 不认识此访问密钥",
  "s3-wrong-secret": "私有访问密钥与访问密钥不匹配",
  "s3-expired": "会话令牌已过期",
  "s3-bad-token": "会话令牌无效",
  "s3-clock": "本机时钟不准确",
  "s3-denied": "此访问密钥没有权限",
  "s3-no-credentials": "对象不公开，且没有凭据",
  "s3-error": "{0} 应答 {1}（状态 {2}）",
  "s3-refused": "{0} 拒绝了访问密钥（状态 {1}）",
  "s3-not-s3": "{0} 的应答不符合对象存储协议（状态 {1}）",
  "failure": "{0}",
  "untranslated": "{0}",
};

/** By the codes in Documentation/JSON.md. @type {Record<number, string>} */
const failures = {
  2: "超时", 3: "文件不存在", 5: "速度过慢", 6: "网络错误", 7: "尚未完成", 8: "无法续传", 9: "磁盘空间不足", 11: "同一文件已在下载",
  13: "文件已存在", 14: "无法改名", 15: "无法打开文件", 16: "无法创建文件", 17: "读写错误", 18: "无法创建文件夹", 19: "无法解析主机名",
  22: "应答有误", 23: "重定向过多", 24: "需要授权", 28: "选项或地址无效", 29: "服务器过载", 32: "校验和不一致", 33: "证书不受信任",
  34: "由更新的版本写成", 35: "内容过大",
};

/** @param {LocalizableMessage} message @returns {string} */
export function localized({ messageID, values = [], message }) {
  const pattern = messages[messageID];
  return pattern === undefined ? message : pattern.replace(/\{(\d)\}/g, (_, index) => localizedValue(values[index]));
}

/** @param {string | LocalizableMessage | Failure} value */
function localizedValue(value) {
  if (typeof value === "string") return value;
  return "code" in value ? failure(value) : localized(value);
}

/** The text of the code; a cause without an identifier keeps the text of the service, the system or the server. @param {Failure} failure */
export function failure({ code, message, place, why, cause }) {
  const found = code === undefined ? undefined : failures[code];
  if (found === undefined) return message;
  return `${found}${place ? `：${place}` : ""}（${cause ? localized(cause) : causeOf({ message, why })}）`;
}
